"""Removing a worktree: checked again, recorded, moved, and nobody else's entry touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.errors import Blocked, Conflict, Dirty, DiskFailed, GitFailed, NotAllowed, NotFound, UsageError
from fan.world.git import Removed, Repository, Restored
from fan.world.git.trash import sweep
from tests.support.repos import RepoBuilder, snapshot, whole

AT = 1_700_000_000.0
STEPS = ("recorded", "saved", "moved", "removed")


class Broken(Exception):
    """Stands for the process being killed between two steps."""


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


@pytest.fixture
def repo(lab: RepoBuilder) -> Repository:
    files = {".gitignore": "out/\n.env\n", "a.txt": "a\n", "b.txt": "b\n", "gone.txt": "g\n", "run.sh": "r\n"}
    repo = lab.open(lab.repo(files=files))
    for n in range(2):
        repo.create(lab.place(f"w-{n}"), f"fan/w-{n}", repo.head().oid)
    return repo


def work_in(lab: RepoBuilder, place: Path) -> None:
    """A commit, and one of everything that can be uncommitted."""
    lab.commit(place, {"done.txt": "d\n"}, "Work")
    lab.write(place, {"a.txt": "staged\n", "b.txt": "modified\n", "new/ü x": "n\n", "out/report.md": "r\n"})
    lab.git(place, "add", "a.txt")
    lab.write(place, {"a.txt": "staged and modified\n", ".env": "secret\n"})
    (place / ".env").chmod(0o600)
    (place / "gone.txt").unlink()
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("a.txt")
    os.utime(place / "b.txt", (1_600_000_000, 1_600_000_000))


def seen(lab: RepoBuilder, place: Path) -> tuple[object, ...]:
    """All that a person can see of a worktree."""
    told = [
        lab.git(place, *line.split())
        for line in ("status --porcelain=v2 --branch --ignored", "ls-files -s", "log --oneline -5", "reflog")
    ]
    return snapshot(place), told


def remove(lab: RepoBuilder, repo: Repository, name: str = "w-0", **more: object) -> Removed:
    asked: dict[str, object] = {
        "archive": "one",
        "trash": lab.home / "trash",
        "expect": None,
        "base_oid": repo.head().oid,
        "at": AT,
    } | more
    return repo.remove(lab.place(name), **asked)  # type: ignore[arg-type]


def restore(lab: RepoBuilder, repo: Repository, **more: object) -> Restored:
    return repo.restore(lab.home / "trash" / "one", **more)  # type: ignore[arg-type]


def test_removed_and_restored_is_byte_for_byte_the_same(lab: RepoBuilder, repo: Repository) -> None:
    """Files, modes, times, links, ignored files, index, reflog: all back, config and the main index untouched."""
    work_in(lab, lab.place("w-0"))
    before, looked = seen(lab, lab.place("w-0")), repo.inspect(lab.place("w-0"), repo.head().oid)
    kept = {name: (repo.common_dir / name).read_bytes() for name in ("config", "index", "HEAD")}
    admin = snapshot(repo.common_dir / "worktrees/w-0")
    removed = remove(lab, repo, expect=looked.identity)
    assert not lab.place("w-0").exists()
    assert [tree.path for tree in repo.worktrees()] == [repo.root, lab.place("w-1")]
    assert (removed.branch, removed.oid, removed.notes) == ("fan/w-0", looked.oid, ())
    assert repo.branches()["fan/w-0"] == looked.oid
    assert lab.git(repo.root, "fsck", "--strict", "--no-dangling") == ""
    restored = restore(lab, repo)
    assert snapshot(repo.common_dir / "worktrees/w-0") == admin
    assert seen(lab, lab.place("w-0")) == before
    assert (restored.notes, restored.oid) == ((), looked.oid)
    assert {name: (repo.common_dir / name).read_bytes() for name in kept} == kept
    assert not (lab.home / "trash" / "one").exists()
    assert not repo.runner.at(lab.place("w-0")).ask("worktree", "list").err


def test_the_refs_hold_head_index_and_files(lab: RepoBuilder, repo: Repository) -> None:
    """What was committed, staged and only in files can be told apart; the identity is fixed, config unused."""
    place = lab.place("w-0")
    work_in(lab, place)
    index = lab.git(place, "write-tree")
    refs = remove(lab, repo).refs

    def show(spec: str) -> str:
        return lab.git(repo.root, "show", spec)

    for part, oid in refs.items():
        assert lab.git(repo.root, "rev-parse", f"refs/fan/archive/one/{part}") == oid
    assert lab.git(repo.root, "rev-parse", f"{refs['index']}^{{tree}}", f"{refs['index']}^").split() == [
        index,
        refs["head"],
    ]
    assert show(f"{refs['index']}:a.txt") == "staged"
    assert show(f"{refs['tree']}:a.txt") == "staged and modified"
    assert show(f"{refs['tree']}:new/ü x") == "n"
    listed = lab.git(repo.root, "ls-tree", "-r", "--name-only", refs["tree"]).splitlines()
    assert "gone.txt" not in listed
    assert "out/report.md" not in listed
    assert lab.git(repo.root, "log", "-1", "--format=%an <%ae> %ct", refs["tree"]) == f"fan <fan@localhost> {AT:.0f}"


def test_archives_are_listed_and_dropped(lab: RepoBuilder, repo: Repository) -> None:
    """The newest first, with where they came from; dropping one leaves the others."""
    remove(lab, repo)
    remove(lab, repo, "w-1", archive="two", at=AT + 60)
    newest, oldest = repo.archives()
    assert (newest.name, newest.path, newest.branch, newest.at) == ("two", lab.place("w-1"), "fan/w-1", AT + 60)
    assert (oldest.name, set(oldest.refs)) == ("one", {"head", "index", "tree"})
    repo.delete_archive("two")
    assert [one.name for one in repo.archives()] == ["one"]
    with pytest.raises(NotFound):
        repo.delete_archive("two")
    for name in ("", "a/b", "..", ".x", "x.lock", "a b", "ü"):
        with pytest.raises(UsageError):
            repo.delete_archive(name)


def test_an_archive_is_found_among_names_that_begin_alike(lab: RepoBuilder, repo: Repository) -> None:
    """Packed refs `one` and `one-b`: each is restored to its own place and contents."""
    lab.write(lab.place("w-0"), {"new.txt": "n\n"})
    remove(lab, repo)
    remove(lab, repo, "w-1", archive="one-b", at=AT + 60)
    lab.git(repo.root, "pack-refs", "--all")
    sweep(lab.home / "trash", 0, AT + 60)
    assert restore(lab, repo).path == lab.place("w-0")
    assert lab.git(lab.place("w-0"), "rev-parse", "--abbrev-ref", "HEAD") == "fan/w-0"
    assert lab.git(lab.place("w-0"), "status", "--porcelain") == "?? new.txt"
    repo.delete_archive("one")
    assert [one.name for one in repo.archives()] == ["one-b"]


@pytest.mark.field("B044")
def test_commits_on_a_detached_head_are_kept(lab: RepoBuilder, repo: Repository) -> None:
    """No branch names them, the archive does: they survive an immediate gc and come back detached."""
    lab.git(lab.place("w-0"), "switch", "--quiet", "--detach")
    oid = lab.commit(lab.place("w-0"), {"x": "x"})
    assert remove(lab, repo).branch is None
    lab.git(repo.root, "reflog", "expire", "--expire=now", "--all")
    lab.git(repo.root, "gc", "--quiet", "--prune=now")
    assert restore(lab, repo).branch is None
    assert lab.git(lab.place("w-0"), "rev-parse", "HEAD") == oid


def test_a_merge_that_stopped_comes_back_as_it_was(lab: RepoBuilder, repo: Repository) -> None:
    """Unmerged paths cannot be a tree; a note says so, and the trash brings the merge back."""
    lab.commit(lab.place("w-0"), {"a.txt": "one\n"})
    lab.commit(lab.place("w-1"), {"a.txt": "two\n"})
    assert repo.runner.at(lab.place("w-0")).ask("merge", "fan/w-1").code
    before = seen(lab, lab.place("w-0"))
    removed = remove(lab, repo)
    assert set(removed.refs) == {"head", "tree"}
    assert "unmerged" in removed.notes[0]
    restore(lab, repo)
    assert seen(lab, lab.place("w-0")) == before
    assert repo.inspect(lab.place("w-0"), repo.head().oid).operation == "merge"


def test_every_kind_of_change_is_in_the_refs(lab: RepoBuilder, repo: Repository) -> None:
    """A file that became a folder and the reverse, intent to add, a link, odd names: the tree has them all."""
    place = lab.place("w-0")
    (place / "a.txt").unlink()
    lab.write(place, {"a.txt/inner": "i\n", "soon.txt": "s\n", 'q"uo\nte': "q\n", "-dash": "d\n"})
    lab.git(place, "add", "--intent-to-add", "soon.txt")
    (place / "link").symlink_to("nowhere")
    refs = remove(lab, repo).refs
    listed = lab.git(repo.root, "ls-tree", "-r", "-z", "--name-only", refs["tree"]).split("\0")
    assert {"a.txt/inner", "soon.txt", 'q"uo\nte', "-dash", "link"} <= set(listed)
    assert "a.txt" not in listed
    assert refs["index"] == refs["head"]
    assert lab.git(repo.root, "ls-tree", refs["tree"], "link").startswith("120000")


def test_a_branch_without_a_commit_goes_and_comes_back(lab: RepoBuilder, repo: Repository) -> None:
    """An agent that started an orphan branch has staged files and no HEAD; they are kept all the same."""
    place = lab.place("w-0")
    lab.git(place, "checkout", "--quiet", "--orphan", "empty")
    lab.write(place, {"new.txt": "n\n"})
    before = snapshot(place), lab.git(place, "status", "--porcelain=v2", "--branch")
    assert repo.inspect(place, repo.head().oid).staged_count == 5
    removed = remove(lab, repo)
    assert (removed.branch, removed.oid) == (None, repo.head().oid)
    assert whole(restore(lab, repo))
    assert (snapshot(place), lab.git(place, "status", "--porcelain=v2", "--branch")) == before


@pytest.mark.field("B012")
def test_a_submodule_goes_and_comes_back_and_its_work_is_never_lost(lab: RepoBuilder) -> None:
    """Clean and pushed: removed without a switch. With work of its own: refused by name; --discard takes it."""
    top = lab.repo()
    lab.submodule(top)
    repo = lab.open(top)
    repo.create(lab.place("w-0"), "fan/w-0", repo.head().oid)
    lab.git(lab.place("w-0"), "submodule", "--quiet", "update", "--init")
    before = seen(lab, lab.place("w-0"))
    remove(lab, repo)
    restore(lab, repo)
    assert seen(lab, lab.place("w-0")) == before
    lab.git(lab.place("w-0") / "lib", "commit", "--quiet", "--allow-empty", "-m", "unpushed")
    with pytest.raises(Dirty, match="lib: a repository inside") as refused:
        remove(lab, repo)
    assert refused.value.not_done == "nothing was removed"
    assert lab.git(lab.place("w-0") / "lib", "log", "-1", "--format=%s") == "unpushed"
    remove(lab, repo, discard=True)
    assert not lab.place("w-0").exists()


@pytest.mark.field("B053")
def test_only_links_go_with_a_linked_dependency_folder(lab: RepoBuilder, repo: Repository) -> None:
    """The main checkout's folder behind the link is whole after removal and sweep."""
    lab.write(repo.root, {"out/lib.js": "l"})
    (lab.place("w-0") / "out").symlink_to(repo.root / "out")
    remove(lab, repo)
    sweep(lab.home / "trash", 0, AT)
    assert list((lab.home / "trash").iterdir()) == []
    assert (repo.root / "out/lib.js").read_text() == "l"


@pytest.mark.field("B048")
def test_the_guard_stands_before_every_removal(lab: RepoBuilder, repo: Repository) -> None:
    """Main, a stranger and a link are refused with nothing changed; so is a folder that was swapped."""
    looked = repo.inspect(lab.place("w-0"), repo.head().oid).identity
    ask = {"archive": "one", "trash": lab.home / "trash", "base_oid": repo.head().oid, "at": AT}
    for path in (repo.root, lab.home):
        with pytest.raises(NotAllowed):
            repo.remove(path, expect=None, **ask)  # type: ignore[arg-type]
    with pytest.raises(Conflict, match="replaced"):
        remove(lab, repo, expect=replace(looked, inode=looked.inode + 1))
    lab.place("w-0").rename(lab.home / "away")
    lab.place("w-0").symlink_to(lab.place("w-1"))
    with pytest.raises(NotAllowed):
        remove(lab, repo)
    assert len(repo.worktrees()) == 3
    assert not (lab.home / "trash").exists()
    assert repo.archives() == []


def test_a_worktree_that_is_locked_in_git_stays(lab: RepoBuilder, repo: Repository) -> None:
    """The person's lock is obeyed, with the reason they gave."""
    lab.git(repo.root, "worktree", "lock", "--reason", "demo at noon", str(lab.place("w-0")))
    with pytest.raises(Blocked, match="demo at noon") as refused:
        remove(lab, repo)
    assert "git worktree unlock" in refused.value.hint
    assert lab.place("w-0").exists()


def test_files_that_git_cannot_record_stop_the_removal(lab: RepoBuilder, repo: Repository) -> None:
    """A required filter that fails would leave a gap in the archive: refused, nothing removed."""
    lab.git(repo.root, "config", "filter.big.clean", "no-such-program")
    lab.git(repo.root, "config", "filter.big.required", "true")
    lab.write(lab.place("w-0"), {".gitattributes": "*.bin filter=big\n", "a.bin": "a"})
    with pytest.raises(GitFailed, match="record all files") as refused:
        remove(lab, repo)
    assert refused.value.not_done == "nothing was removed"
    assert (lab.place("w-0") / "a.bin").exists()
    assert repo.archives() == []


def test_discard_keeps_the_branch_and_no_archive(lab: RepoBuilder, repo: Repository) -> None:
    """The person said so: no refs, no trash; the branch and its commit id stay."""
    oid = lab.commit(lab.place("w-0"), {"x": "x"})
    removed = remove(lab, repo, discard=True)
    assert (removed.oid, removed.trash, removed.refs) == (oid, None, {})
    assert repo.archives() == []
    assert not (lab.home / "trash" / "one").exists()
    assert repo.branches()["fan/w-0"] == oid


def test_the_entries_of_others_stay_though_their_folders_are_away(lab: RepoBuilder, repo: Repository) -> None:
    """A worktree on an unplugged disk looks prunable; a removal beside it must not drop it."""
    lab.place("w-1").rename(lab.home / "unplugged")
    remove(lab, repo)
    assert [tree.path for tree in repo.worktrees()] == [repo.root, lab.place("w-1")]
    (lab.home / "unplugged").rename(lab.place("w-1"))
    assert lab.git(lab.place("w-1"), "status", "--porcelain") == ""


def test_a_folder_that_somebody_deleted_is_taken_out_with_what_git_still_has(
    lab: RepoBuilder, repo: Repository
) -> None:
    """Commits and staged files of a vanished worktree are kept and come back from the refs."""
    place = lab.place("w-0")
    lab.write(place, {"a.txt": "staged\n"})
    lab.git(place, "add", "a.txt")
    place.rename(lab.home / "deleted")
    removed = remove(lab, repo)
    assert "had gone before" in removed.notes[0]
    assert len(repo.worktrees()) == 2
    assert not whole(restore(lab, repo))
    assert lab.git(place, "status", "--porcelain") == "M  a.txt"
    with pytest.raises(NotFound):
        remove(lab, repo, "none")


def test_a_trash_on_another_file_system_is_refused(lab: RepoBuilder, repo: Repository) -> None:
    """A move across file systems would be a slow copy: refused before anything is recorded."""
    shm = Path("/dev/shm")
    if not shm.is_dir() or shm.stat().st_dev == lab.home.stat().st_dev:
        pytest.skip("needs two file systems")
    trash = shm / f"fan-test-{os.getpid()}"
    try:
        with pytest.raises(DiskFailed, match="another file system"):
            remove(lab, repo, trash=trash)
    finally:
        trash.rmdir()
    assert lab.place("w-0").exists()
    assert repo.archives() == []


@pytest.mark.field("B045")
def test_a_program_that_makes_the_folder_anew_does_not_stop_the_removal(lab: RepoBuilder, repo: Repository) -> None:
    """What is written to the old path after the move is put aside, kept by restore, and named."""

    def write_late(step: str) -> None:
        if step == "moved":
            lab.write(lab.place("w-0"), {"late.log": "late"})

    remove(lab, repo, on_step=write_late)
    assert not lab.place("w-0").exists()
    assert len(repo.worktrees()) == 2
    restored = restore(lab, repo)
    late = list((lab.home / "trash" / "one").rglob("late.log"))
    assert [file.read_text() for file in late] == ["late"]
    assert "written after the removal" in restored.notes[0]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("then", ["remove", "restore"])
def test_broken_off_after_any_step_it_is_finished_or_taken_back(
    lab: RepoBuilder, repo: Repository, step: str, then: str
) -> None:
    """After a crash between two steps the same call finishes, and restore brings all back as it was."""
    work_in(lab, lab.place("w-0"))
    before = seen(lab, lab.place("w-0"))

    def break_off(reached: str) -> None:
        if reached == step:
            raise Broken

    with pytest.raises(Broken):
        remove(lab, repo, on_step=break_off)
    if then == "remove":
        assert set(remove(lab, repo).refs) == {"head", "index", "tree"}
        assert len(repo.worktrees()) == 2
        assert not lab.place("w-0").exists()
        restore(lab, repo)
    else:
        assert whole(restore(lab, repo))
    assert seen(lab, lab.place("w-0")) == before
    lab.git(repo.root, "fsck", "--strict")


def test_a_process_killed_after_the_move_loses_nothing(lab: RepoBuilder, repo: Repository) -> None:
    """A real SIGKILL with the repository's lock held: the next process goes on at once."""
    work_in(lab, lab.place("w-0"))
    before = seen(lab, lab.place("w-0"))
    script = (
        "import os, signal, sys; from pathlib import Path; from fan.world.git import Git\n"
        "def die(step): step == 'moved' and os.kill(os.getpid(), signal.SIGKILL)\n"
        "repo = Git(dict(os.environ)).repository(Path(sys.argv[1]))\n"
        "repo.remove(Path(sys.argv[2]), archive='one', trash=Path(sys.argv[3]), expect=None,\n"
        "            base_oid=repo.head().oid, at=1.0, on_step=die)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script, str(repo.root), str(lab.place("w-0")), str(lab.home / "trash")],
        env=lab.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert killed.returncode == -9
    assert not lab.place("w-0").exists()
    assert len(repo.worktrees()) == 3
    restore(lab, repo)
    assert seen(lab, lab.place("w-0")) == before


@pytest.mark.parametrize("step", ["recorded", "saved", "moved"])
def test_what_a_broken_off_removal_recorded_outlives_the_next_one(
    lab: RepoBuilder, repo: Repository, step: str
) -> None:
    """Broken off, its trash swept and its folder deleted, it is removed again: restore still has every file that git
    does not ignore. Red when the second removal points the refs at what it alone could see."""
    work_in(lab, lab.place("w-0"))
    before = lab.git(lab.place("w-0"), "status", "--porcelain=v2", "--branch")

    def break_off(reached: str) -> None:
        if reached == step:
            raise Broken

    with pytest.raises(Broken):
        remove(lab, repo, on_step=break_off)
    sweep(lab.home / "trash", -1.0, AT)
    shutil.rmtree(lab.place("w-0"), ignore_errors=True)
    remove(lab, repo)
    assert not whole(restore(lab, repo))
    assert lab.git(lab.place("w-0"), "status", "--porcelain=v2", "--branch") == before


def test_what_was_deleted_between_two_tries_can_be_reached(lab: RepoBuilder, repo: Repository) -> None:
    """A teardown that ran before the crash deletes a file: the first record of it stays below the archive's ref."""
    lab.write(lab.place("w-0"), {"report.md": "the only copy\n"})

    def tear_down(reached: str) -> None:
        if reached == "saved":
            (lab.place("w-0") / "report.md").unlink()
            raise Broken

    with pytest.raises(Broken):
        remove(lab, repo, on_step=tear_down)
    told = remove(lab, repo)
    assert "the only copy" in lab.git(repo.root, "log", "--patch", "--format=", told.refs["tree"])
