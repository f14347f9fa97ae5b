"""Folders that cannot be looked at: no row hides the others, and nothing there is taken for gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core.model import Member, Step
from fan.errors import DiskFailed, UsageError
from fan.verbs.keep import KeepRequest, keep
from fan.verbs.listing import ListRequest, ls
from fan.verbs.new import NewRequest, new
from fan.verbs.plan import StartRequest, plan
from fan.verbs.remove import RemoveRequest, remove
from fan.world.files import is_folder, must_see, there, unseen
from fan.world.git import Repository
from tests.support.groups import Groups, open_groups
from tests.support.listening import Silent


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


def loop(folder: Path) -> Path:
    """A place below a link that leads to itself: the system cannot tell what is there, not even to root."""
    folder.mkdir(parents=True)
    (folder / "loop").symlink_to("loop")
    return folder / "loop" / "tree"


def moved(groups: Groups, member: Member, path: Path, step: Step = Step.READY) -> Member:
    """The member as one that was adopted there."""
    groups.world.store.update_member(member.id, path=path, step=step, adopted=True)
    return replace(member, path=path)


def test_there_are_three_answers(tmp_path: Path) -> None:
    """Yes, no, cannot tell; a name that no file system takes is nowhere."""
    looped, long = loop(tmp_path / "x"), tmp_path / ("n" * 300)
    (tmp_path / "dangling").symlink_to("nowhere")
    assert (there(tmp_path), is_folder(tmp_path), unseen(tmp_path)) == (True, True, "")
    assert (there(tmp_path / "dangling"), is_folder(tmp_path / "dangling")) == (True, False)
    for absent in (long, tmp_path / "no", tmp_path / "dangling" / "x"):
        assert (there(absent), is_folder(absent), unseen(absent)) == (False, False, "")
    assert (there(looped), is_folder(looped)) == (None, None)
    assert "symbolic links" in unseen(looped)
    with pytest.raises(DiskFailed, match="cannot be looked at"):
        must_see(looped, "nothing was done")


def test_one_that_cannot_be_looked_at_hides_no_other(groups: Groups) -> None:
    """Its row says so and is not called gone; it is neither removed nor kept, and the others are.

    Red when a folder that cannot be looked at is taken for one that is gone.
    """
    one, two, three = groups.group(3)
    one = moved(groups, one, loop(groups.folder / "x"))
    rows = {row.id: row for row in ls(groups.world, ListRequest()).rows if row.id}
    assert set(rows) == {one.id, two.id, three.id}
    assert "cannot be looked at" in rows[one.id].detail
    assert rows[two.id].changes == 0
    with pytest.raises(DiskFailed, match="cannot be looked at"):
        keep(groups.world, KeepRequest(one.id))
    done = remove(groups.world, RemoveRequest((one.id, two.id)))
    assert [row.id for row in done.removed] == [two.id]
    assert "cannot be looked at" in done.left[0].reason
    assert groups.world.store.member(one.id).removed_at is None


def test_a_record_with_an_impossible_name_can_be_taken_away(groups: Groups) -> None:
    """One whose folder no file system could hold is listed as gone, and `rm` takes it off the record."""
    one, two = groups.group(2)
    moved(groups, one, groups.world.paths.worktrees / ("b" * 300), Step.FAILED)
    assert len([row for row in ls(groups.world, ListRequest()).rows if row.id]) == 2
    assert remove(groups.world, RemoveRequest((one.id,))).exit_code == 0
    assert [row.id for row in ls(groups.world, ListRequest()).rows if row.id] == [two.id]


@pytest.mark.parametrize("name", ["b" * 300, f"{'a' * 150}/{'b' * 150}", "é" * 120])
def test_a_name_too_long_for_files_is_refused(groups: Groups, name: str) -> None:
    """Before anything is on record: as a branch, as a group's name, and where only the folder's name is too long."""
    with pytest.raises(UsageError, match="too long"):
        new(groups.world, NewRequest(name), Silent())
    with pytest.raises(UsageError, match="too long"):
        new(groups.world, NewRequest("topic", name=name), Silent())
    with pytest.raises(UsageError, match="too long"):
        plan(groups.world, StartRequest(agents=("demo",), prompt="Do it", count=1, name=name))
    assert groups.world.store.groups() == []


def test_a_repository_with_a_long_name_gets_its_worktrees(tmp_path: Path) -> None:
    """The folder of its worktrees is cut to what a file system takes."""
    with open_groups(tmp_path / "g") as groups:
        long = groups.top.rename(groups.top.with_name("r" * 255))
        made = new(groups.at(long), NewRequest("topic"), Silent())
        assert Path(made.member.path).is_dir()


def test_a_bug_while_a_member_is_made_is_on_record(groups: Groups, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised, the member says failed and why, and `rm` takes it away.

    Red when a member stays half-made for as long as its maker lives.
    """

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Repository, "create", broken)
    with pytest.raises(RuntimeError):
        new(groups.world, NewRequest("topic"), Silent())
    (member,) = groups.world.store.members()
    assert (member.step, "a bug" in member.failure) == (Step.FAILED, True)
    assert remove(groups.world, RemoveRequest((member.id,))).exit_code == 0
    assert groups.world.store.members() == []
