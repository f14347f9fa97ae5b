"""What `undo` brings back, from where it is called, and what it says of the rest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.model import Step
from fan.errors import Conflict, NotFound
from fan.verbs import archive
from fan.verbs.archive import DropRequest
from fan.verbs.remove import RemoveRequest, remove
from fan.verbs.resume import ResumeRequest, resume
from fan.verbs.undo import undo
from tests.support.groups import Groups, open_groups
from tests.support.listening import Silent


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


def taken(groups: Groups, *members: str, discard: bool = False) -> list[str]:
    """The notes of their removal."""
    done = remove(groups.world, RemoveRequest(members, discard=discard))
    assert done.exit_code == 0, done.left
    return done.notes


def test_undo_is_called_from_the_folder_that_was_removed(groups: Groups) -> None:
    """A shell that stands in a member's folder stands in the trash after `rm`, and still in that repository.

    Red when git alone says which repository a folder belongs to: it has no entry of this worktree any more.
    """
    (one,) = groups.group(1)
    groups.repos.write(one.path, {"deep/new.txt": "n\n"})
    taken(groups, one.id)
    (entry,) = archive.ls(groups.world)
    inside = groups.world.paths.worktrees / ".trash" / entry.id / "tree" / "deep"
    assert inside.is_dir()
    there = groups.at(inside)
    assert archive.ls(there) == [entry]
    assert [row.id for row in undo(there).restored] == [one.id]
    with pytest.raises(NotFound, match="not inside a git repository"):
        undo(groups.at(groups.folder))


def test_one_whose_setup_failed_is_back_as_such(groups: Groups) -> None:
    """No agent was to start in it, and none is started by `resume` after `rm` and `undo`.

    Red when whoever comes back counts as ready.
    """
    (one,) = groups.group(1)
    groups.world.store.update_member(one.id, step=Step.FAILED, failure="make: no rule", pane="")
    taken(groups, one.id)
    assert [row.id for row in undo(groups.world).restored] == [one.id]
    back = groups.world.store.member(one.id)
    assert (back.step, back.failure, back.removed_at) == (Step.FAILED, "make: no rule", None)
    resumed = resume(groups.world, ResumeRequest((one.id,)), Silent())
    assert "make: no rule" in resumed.left[0].reason


def test_what_is_in_the_way_of_one_removal_is_not_in_the_way_of_others(groups: Groups) -> None:
    """One that cannot come back says why and how to get at the older ones; by its archive any comes back.

    Red when the newest removal is all that `undo` can reach.
    """
    one, two, three = groups.group(3)
    taken(groups, one.id)
    taken(groups, two.id, three.id)
    two.path.write_text("in the way\n")
    done = undo(groups.world)
    assert ([row.id for row in done.restored], done.exit_code) == ([three.id], 5)
    assert "next: mv " in done.left[0].reason
    assert any("fan undo ARCHIVE" in note for note in done.notes)
    ids = {entry.member: entry.id for entry in archive.ls(groups.world)}
    assert [row.id for row in undo(groups.world, [ids[one.id][:5]]).restored] == [one.id]
    with pytest.raises(Conflict, match="brought back already"):
        undo(groups.world, [ids[one.id]])
    two.path.unlink()
    assert [row.id for row in undo(groups.world).restored] == [two.id]
    with pytest.raises(NotFound, match="no removal to undo"):
        undo(groups.world)


@pytest.mark.parametrize("how", ["discard", "archive rm"])
def test_an_older_removal_is_not_brought_back_without_a_word(groups: Groups, how: str) -> None:
    """Where nothing can bring the last one back, `undo` says so, and that this is the one before it."""
    one, two, three = groups.group(3)
    taken(groups, one.id)
    taken(groups, two.id, discard=how == "discard")
    if how == "archive rm":
        dropped = next(entry.id for entry in archive.ls(groups.world) if entry.member == two.id)
        archive.rm(groups.world, DropRequest((dropped,)))
    done = undo(groups.world)
    assert [row.id for row in done.restored] == [one.id]
    assert any("a later `rm` has left nothing to bring back" in note for note in done.notes)
    taken(groups, three.id, discard=True)
    with pytest.raises(NotFound, match="a later `rm`"):
        undo(groups.world)


def test_a_removal_that_took_nothing_is_none(groups: Groups) -> None:
    """One that was refused, in one sentence, is passed over without a word: everything is still there."""
    one, two = groups.group(2)
    taken(groups, one.id)
    groups.repos.git(groups.top, "worktree", "lock", str(two.path))
    refused = remove(groups.world, RemoveRequest((two.id,)))
    unlock = f"git worktree unlock {two.path}"
    assert [left.reason for left in refused.left] == [
        f"{two.path} is locked in git; nothing was removed; next: {unlock}"
    ]
    done = undo(groups.world)
    assert ([row.id for row in done.restored], done.notes) == ([one.id], [])


def test_a_branch_that_goes_is_named(groups: Groups) -> None:
    """Of a member that was never typed to and has nothing, the branch goes too: `rm` says so, and `undo` that it is
    back, without blaming anybody. Any other's branch stays, and nothing is said."""
    (untouched,) = groups.group(1, began=False)
    (typed_to,) = groups.group(1)
    notes = taken(groups, untouched.id)
    assert any("its branch went with it" in note for note in notes)
    assert untouched.branch not in groups.repo.branches()
    done = undo(groups.world)
    assert any("was gone; it is back at" in note for note in done.notes)
    assert not any("branch" in note for note in taken(groups, typed_to.id))
    assert typed_to.branch in groups.repo.branches()


def test_undo_says_what_the_refs_do_not_hold(groups: Groups) -> None:
    """From the refs, after the trash was emptied, permissions and empty folders are named among what is missing; a
    folder that somebody had deleted before `rm` is not called an emptied trash."""
    emptied, deleted = groups.group(2)
    taken(groups, emptied.id)
    shutil.rmtree(groups.world.paths.worktrees / ".trash")
    (said,) = undo(groups.world).notes
    assert all(word in said for word in ("trash was emptied", "empty folders", "permissions"))
    shutil.rmtree(deleted.path)
    taken(groups, deleted.id)
    (said,) = undo(groups.world).notes
    assert "was gone before it was removed" in said
