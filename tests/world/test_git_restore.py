"""Bringing worktrees back when the world has moved on, and emptying the trash."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.errors import AlreadyExists, Conflict, NotFound
from fan.world.git import Repository, Restored
from fan.world.git.trash import sweep
from tests.support.repos import RepoBuilder, whole

AT = 1_700_000_000.0


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


@pytest.fixture
def repo(lab: RepoBuilder) -> Repository:
    """One worktree with a commit, a staged, a modified, an untracked and an ignored file; removed."""
    repo = lab.open(lab.repo(files={".gitignore": "out/\n", "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}))
    place = lab.place("one")
    repo.create(place, "fan/one", repo.head().oid)
    lab.commit(place, {"d.txt": "d\n"})
    lab.write(place, {"a.txt": "staged\n", "b.txt": "modified\n", "new.txt": "new\n", "out/r.md": "r\n"})
    lab.git(place, "add", "a.txt")
    (place / "c.txt").unlink()
    remove(lab, repo)
    return repo


def remove(lab: RepoBuilder, repo: Repository, archive: str = "one") -> None:
    repo.remove(lab.place("one"), archive=archive, trash=trash(lab), expect=None, base_oid=repo.head().oid, at=AT)


def trash(lab: RepoBuilder) -> Path:
    return lab.home / "trash"


def restore(lab: RepoBuilder, repo: Repository) -> Restored:
    return repo.restore(trash(lab) / "one")


def status(lab: RepoBuilder) -> list[str]:
    return lab.git(lab.place("one"), "status", "--porcelain", "--ignored").splitlines()


CHANGES = ["M  a.txt", " M b.txt", " D c.txt", "?? new.txt"]


def test_after_the_sweep_the_refs_bring_back_all_but_ignored_files(lab: RepoBuilder, repo: Repository) -> None:
    """Staged, modified, deleted and untracked are what they were, on the branch; the answer says what lacks."""
    sweep(trash(lab), 60, AT + 61)
    restored = restore(lab, repo)
    assert status(lab) == CHANGES
    assert (whole(restored), restored.branch) == (False, "fan/one")
    assert "ignored files" in restored.notes[-1]
    assert (lab.place("one") / "new.txt").read_text() == "new\n"
    lab.git(repo.root, "fsck", "--strict")


def test_a_branch_that_was_deleted_is_made_again(lab: RepoBuilder, repo: Repository) -> None:
    """At the commit it had, with a word about it."""
    oid = repo.branches()["fan/one"]
    lab.git(repo.root, "branch", "--quiet", "-D", "fan/one")
    assert "was gone; it is back" in restore(lab, repo).notes[0]
    assert repo.branches()["fan/one"] == oid
    assert status(lab) == [*CHANGES, "!! out/"]


@pytest.mark.parametrize("swept", [False, True])
def test_a_branch_that_moved_meanwhile_stays_where_it_is(lab: RepoBuilder, repo: Repository, *, swept: bool) -> None:
    """The person's newer commit is not undone; the note has both ids and the files are back."""
    old = repo.branches()["fan/one"]
    lab.git(repo.root, "switch", "--quiet", "fan/one")
    new = lab.commit(repo.root, {"more.txt": "m\n"})
    lab.git(repo.root, "switch", "--quiet", "main")
    if swept:
        sweep(trash(lab), 0, AT)
    notes = restore(lab, repo).notes
    assert f"moved from {old[:12]} to {new[:12]}" in notes[0]
    assert repo.branches()["fan/one"] == new
    assert (lab.place("one") / "b.txt").read_text() == "modified\n"


def test_a_branch_that_is_checked_out_elsewhere_is_refused(lab: RepoBuilder, repo: Repository) -> None:
    """Two worktrees on one branch would undo each other's commits: named, nothing done."""
    lab.git(repo.root, "worktree", "add", "--quiet", str(lab.home / "other"), "fan/one")
    with pytest.raises(Conflict, match="checked out at") as refused:
        restore(lab, repo)
    assert str(lab.home / "other") in refused.value.hint
    assert not lab.place("one").exists()
    lab.git(repo.root, "worktree", "remove", str(lab.home / "other"))
    assert whole(restore(lab, repo))


def test_a_path_that_is_taken_is_refused(lab: RepoBuilder, repo: Repository) -> None:
    """What stands there now is not overwritten."""
    lab.write(lab.place("one"), {"mine.txt": "m"})
    with pytest.raises(AlreadyExists):
        restore(lab, repo)
    assert [file.name for file in lab.place("one").iterdir()] == ["mine.txt"]


def test_an_entry_name_that_is_taken_gets_another(lab: RepoBuilder, repo: Repository) -> None:
    """A worktree elsewhere with the same folder name took git's entry; both work afterwards."""
    other = lab.home / "elsewhere" / "one"
    lab.git(repo.root, "worktree", "add", "--quiet", "-b", "other", str(other))
    restore(lab, repo)
    assert status(lab) == [*CHANGES, "!! out/"]
    assert lab.git(other, "status", "--porcelain", "--branch") == "## other"
    assert {tree.branch for tree in repo.worktrees()} == {"main", "other", "fan/one"}
    remove(lab, repo, "two")
    assert len(repo.worktrees()) == 2


class Broken(Exception):
    """Stands for the process being killed between two steps."""


@pytest.mark.parametrize("step", ["branch", "entry", "moved"])
def test_broken_off_after_any_step_it_can_be_done_again(lab: RepoBuilder, repo: Repository, step: str) -> None:
    """The second call ends where the first would have; nothing is left in the trash."""
    lab.git(repo.root, "branch", "--quiet", "-D", "fan/one")

    def break_off(reached: str) -> None:
        if reached == step:
            raise Broken

    with pytest.raises(Broken):
        repo.restore(trash(lab) / "one", on_step=break_off)
    assert whole(restore(lab, repo))
    assert status(lab) == [*CHANGES, "!! out/"]
    assert list(trash(lab).iterdir()) == []


def test_what_was_never_removed_is_not_found(lab: RepoBuilder, repo: Repository) -> None:
    """No trash and no refs: one sentence; the same when the archive belongs to another repository."""
    with pytest.raises(NotFound):
        repo.restore(trash(lab) / "never")
    lab.repo("other", {"other.txt": "o\n"})
    with pytest.raises(NotFound, match="not in this repository"):
        lab.open(lab.home / "other").restore(trash(lab) / "one")
    restore(lab, repo)
    repo.delete_archive("one")
    with pytest.raises(NotFound):
        restore(lab, repo)


def test_the_sweep_takes_only_what_is_old(lab: RepoBuilder, repo: Repository) -> None:
    """Younger removals stay whole, a sweep that was killed is ended, folders without permissions go."""
    hidden = trash(lab) / "one" / "tree" / "out"
    hidden.chmod(0o000)
    left = trash(lab) / ".sweep-1-old" / "tree"
    left.mkdir(parents=True)
    sweep(trash(lab), 60, AT + 59)
    assert hidden.exists()
    assert not left.parent.exists()
    sweep(trash(lab), 60, AT + 60)
    assert list(trash(lab).iterdir()) == []
    sweep(lab.home / "none", 60, AT)
