"""Reading the state of many worktrees without getting in anybody's way."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from fan.world.git import Repository, many
from fan.world.git.run import Runner
from fan.world.git.status import begin_statuses
from tests.support.repos import RepoBuilder
from tests.support.tmux import gone
from tests.support.wait import eventually


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


@pytest.fixture
def repo(lab: RepoBuilder) -> Repository:
    repo = lab.open(lab.repo(files={".gitignore": "out/\n", "a.txt": "a\n", "b.txt": "b\n"}))
    for n in range(3):
        repo.create(lab.place(f"w-{n}"), f"fan/w-{n}", repo.head().oid)
    return repo


def test_statuses_come_in_order_with_changes_and_ahead(lab: RepoBuilder, repo: Repository) -> None:
    """Each row is that of its own worktree; a folder that is gone is None; ignored files do not count."""
    base = repo.head().oid
    lab.write(lab.place("w-0"), {"a.txt": "x\n", "new/1": "", "new/2": "", "out/o": ""})
    first = lab.commit(lab.place("w-1"), {"c": "1"})
    second = lab.commit(lab.place("w-1"), {"c": "2"})
    assert first != second
    rows = repo.statuses([(lab.place(name), base) for name in ("w-0", "gone", "w-1", "w-2")])
    assert rows[1] is None
    seen = [(row.branch, row.oid, row.changes, row.ahead) for row in rows if row]
    assert seen == [("fan/w-0", base, 2, 0), ("fan/w-1", second, 0, 2), ("fan/w-2", base, 0, 0)]
    assert repo.status(lab.place("w-1"), first) == repo.statuses([(lab.place("w-1"), first)])[0]
    one = repo.status(lab.place("w-1"), first)
    assert one is not None
    assert one.ahead == 1


def test_ahead_counts_merges_and_side_branches_as_git_does(lab: RepoBuilder, repo: Repository) -> None:
    """The count over a graph with a merge is that of `git rev-list --count`, for several heads at once."""
    base = repo.head().oid
    one, two = lab.place("w-0"), lab.place("w-1")
    lab.commit(one, {"x": "1"})
    lab.commit(two, {"y": "1"})
    lab.commit(two, {"y": "2"})
    lab.git(one, "merge", "--quiet", "--no-edit", "fan/w-1")
    wants = [(one, base), (two, base)]
    counted = [int(lab.git(path, "rev-list", "--count", f"{base}..HEAD")) for path, _ in wants]
    assert [row.ahead for row in repo.statuses(wants) if row] == counted == [4, 2]


def test_a_base_that_is_unknown_leaves_ahead_open(lab: RepoBuilder, repo: Repository) -> None:
    """An object that is not there is 'cannot tell', not zero, and spoils no other row."""
    lab.commit(lab.place("w-0"), {"x": "1"})
    rows = repo.statuses([(lab.place("w-0"), "1" * 40), (lab.place("w-0"), repo.head().oid)])
    assert [row.ahead for row in rows if row] == [None, 1]


def test_a_detached_head_has_no_branch(lab: RepoBuilder, repo: Repository) -> None:
    """Detached is None for the branch, the commit is still told."""
    lab.git(lab.place("w-0"), "switch", "--quiet", "--detach")
    row = repo.status(lab.place("w-0"), repo.head().oid)
    assert row is not None
    assert (row.branch, row.oid) == (None, repo.head().oid)


def test_a_worktree_without_its_git_file_is_not_read_from_a_repository_above(lab: RepoBuilder) -> None:
    """The folder lies in somebody's repository of dotfiles; its state is 'cannot tell', not that of the outer one."""
    outer = lab.repo("outer")
    repo = lab.open(lab.repo("inner"))
    place = outer / "worktrees" / "one"
    repo.create(place, "fan/one", repo.head().oid)
    (place / ".git").unlink()
    row = repo.status(place, repo.head().oid)
    assert row is not None
    assert (row.changes, row.branch) == (None, None)
    assert "no worktree any more" in row.problem


def test_a_broken_worktree_tells_gits_words_and_spoils_no_other_row(lab: RepoBuilder, repo: Repository) -> None:
    """A damaged index is shown as such."""
    (repo.common_dir / "worktrees/w-0/index").write_bytes(b"rubbish")
    broken, whole = repo.statuses([(lab.place("w-0"), repo.head().oid), (lab.place("w-1"), repo.head().oid)])
    assert broken is not None
    assert whole is not None
    assert broken.changes is None
    assert "index" in broken.problem
    assert whole.changes == 0


def test_reading_takes_no_lock_and_writes_nothing(lab: RepoBuilder, repo: Repository) -> None:
    """A status works beside a held index.lock, and leaves the index as it is where it could be made newer.

    Fails if optional locks are on.
    """
    place, index = lab.place("w-0"), repo.common_dir / "worktrees/w-0/index"
    os.utime(place / "a.txt", (1_600_000_000, 1_600_000_000))
    before = index.read_bytes()
    lock = index.with_name("index.lock")
    for held in (False, True):
        if held:
            lock.touch()
        row = repo.status(place, repo.head().oid)
        assert row is not None
        assert row.changes == 0
        assert index.read_bytes() == before
    repo.refresh_index(place)
    assert index.read_bytes() == before
    lock.unlink()
    repo.refresh_index(place)
    assert index.read_bytes() != before
    assert not lock.exists()


def test_all_worktrees_are_listed_with_what_git_knows(lab: RepoBuilder, repo: Repository) -> None:
    """The main one comes first and is marked; locked, detached and gone ones say so."""
    lab.git(repo.root, "worktree", "lock", "--reason", "on a stick", str(lab.place("w-0")))
    lab.git(lab.place("w-1"), "switch", "--quiet", "--detach")
    lab.place("w-2").rename(lab.home / "elsewhere")
    main, locked, detached, gone = repo.worktrees()
    assert (main.path, main.main, main.branch, main.bare) == (repo.root, True, "main", False)
    assert (locked.branch, locked.locked, locked.main) == ("fan/w-0", "on a stick", False)
    assert (detached.branch, detached.bare, detached.oid) == (None, False, repo.head().oid)
    assert gone.prunable


def test_more_worktrees_than_are_asked_at_once_each_get_their_own_answer(lab: RepoBuilder, repo: Repository) -> None:
    """Twenty questions, eight at a time; an answer larger than a pipe holds is whole.

    Fails if a git's answer is read once, or if who waits for a turn is forgotten.
    """
    base = repo.head().oid
    lab.write(lab.place("w-0"), {f"{n:04}-{'x' * 100}": "" for n in range(1500)})
    wants = [(lab.place(f"w-{n % 3}"), base) for n in range(20)]
    assert [row.changes for row in repo.statuses(wants) if row] == [1500 if n % 3 == 0 else 0 for n in range(20)]


def test_a_git_that_does_not_answer_is_ended_and_says_so(
    lab: RepoBuilder, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter that hangs holds up its own row for a limited time, and what git has started is ended with it."""
    place, mark = lab.place("w-0"), lab.home / "hangs"
    lab.git(repo.root, "config", "filter.slow.clean", f"echo $$ >'{mark}'; exec sleep 600")
    lab.write(place, {".gitattributes": "a.txt filter=slow\n", "a.txt": "x\n"})
    monkeypatch.setattr(many, "READ_LIMIT", 1.0)
    slow, quick = repo.statuses([(place, repo.head().oid), (lab.place("w-1"), repo.head().oid)])
    assert slow is not None
    assert quick is not None
    assert "did not finish" in slow.problem
    assert quick.changes == 0
    eventually(partial(gone, int(mark.read_text())))


def test_without_git_every_row_says_so(lab: RepoBuilder, repo: Repository) -> None:
    """'Cannot tell', not 'no changes'."""
    bare = repo.runner.environ | {"PATH": "/nowhere"}  # type: ignore[operator]
    (row,) = begin_statuses(Runner(bare, repo.root), [lab.place("w-0")])()
    assert row is not None
    assert row.changes is None
    assert "git cannot be started" in row.problem
