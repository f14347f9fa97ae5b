"""`archive ls | show | rm`, and the sweep of the trash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.model import Member
from fan.courier.__main__ import sweep_trash
from fan.errors import Ambiguous, FanError, NotFound, UsageError
from fan.render import archives, removal
from fan.verbs import archive
from fan.verbs.archive import DropRequest
from fan.verbs.keep import KeepRequest, keep
from fan.verbs.remove import RemoveRequest, remove
from fan.verbs.undo import undo
from fan.world.paths import trash_of
from fan.world.world import open_world
from tests.support.fuse import Crash, lit
from tests.support.groups import Groups, open_groups


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


def sweep(groups: Groups, days: float) -> None:
    """The courier's sweep, with this setting."""
    sweep_trash(open_world(groups.environ | {"FAN_TRASH_DAYS": str(days)}, groups.top))


def refs(groups: Groups) -> set[str]:
    listed = groups.repos.git(groups.top, "for-each-ref", "--format=%(refname)", "refs/fan").split()
    return {ref.split("/")[3] for ref in listed}


def test_what_a_removal_left_is_listed_and_shown(groups: Groups) -> None:
    """Each archive has its verb, group, branch, commit, number of files and what is left; `show` names the files,
    commits and refs, and weighs the trash."""
    one, two, three = groups.group(3, "fan/mend")
    oid = groups.work(two, {"x.txt": "x\n"}, "Add x")
    groups.repos.write(two.path, {"new.txt": "n\n", "run.log": "ignored\n"})
    (two.path / "a.txt").unlink()
    keep(groups.world, KeepRequest(one.id))
    found = {entry.member: entry for entry in archive.ls(groups.world)}
    assert set(found) == {two.id, three.id}
    entry = found[two.id]
    assert (entry.verb, entry.group, entry.branch, entry.commit) == ("keep", "fan/mend", two.branch, oid)
    assert (entry.files, entry.trash, entry.restored) == (3, True, False)
    shown = archive.show(groups.world, entry.id[:6])
    assert shown.archive == entry
    assert shown.contents.files == ("a.txt", "new.txt", "x.txt")
    assert [commit.subject for commit in shown.contents.commits] == ["Add x"]
    assert shown.contents.trash_files == 7  # .git, .gitignore, b.txt, src/main.py, x.txt, new.txt, run.log
    for part, ref in shown.refs.items():
        assert groups.repos.git(groups.top, "rev-parse", f"refs/fan/archive/{entry.id}/{part}") == ref
    undo(groups.world)
    assert all(entry.restored and not entry.trash for entry in archive.ls(groups.world))


def test_a_person_reads_what_was_merged_and_what_is_left(groups: Groups) -> None:
    """The lines name the merge, each archive on a line of its own, its commits, files and refs, and what was dropped;
    brackets and line ends in names are shown as they are."""
    one, two = groups.group(2, "fan/mend")
    groups.work(one, {"x.txt": "x\n"})
    groups.work(two, {"odd\n[red].txt": "x\n"}, "Add [bold]x")
    kept = removal.kept(keep(groups.world, KeepRequest(one.id, merge=True))).splitlines()
    assert [line.split(" ")[0] for line in kept] == ["kept", "merged", "removed"]
    assert kept[1].startswith("merged into main: ")
    assert kept[1].endswith(" (fast-forward)")
    (entry,) = found = archive.ls(groups.world)
    (line,) = archives.entries(found, entry.at + 61).splitlines()
    assert line.split("  ") == [entry.id, "1m", "keep", two.branch, entry.commit[:10], "1 file", "trash and refs"]
    shown = archives.shown(archive.show(groups.world, entry.id), entry.at).splitlines()
    assert f"commit {entry.commit[:10]} Add [bold]x" in shown
    assert len([line for line in shown if "[red].txt" in line]) == 1
    dropped = archives.dropped(archive.rm(groups.world, DropRequest((entry.id,))))
    assert dropped == f"dropped {entry.id}: {two.branch} at {entry.commit[:10]}\n"


def test_the_sweep_takes_the_trash_and_leaves_the_refs(groups: Groups) -> None:
    """What is old enough goes from the trash, ignored files with it; `undo` rebuilds the rest and says what is
    missing. What is younger stays.

    Red when the sweep drops refs, or looks at the wrong folder.
    """
    one, two = groups.group(2)
    groups.repos.write(two.path, {"new.txt": "n\n", "run.log": "ignored\n"})
    remove(groups.world, RemoveRequest((two.id,)))
    sweep(groups, 7)
    assert archive.ls(groups.world)[0].trash
    sweep(groups, 0)
    (entry,) = archive.ls(groups.world)
    assert not entry.trash
    assert list(trash_of(groups.world.paths.worktrees).iterdir()) == []
    assert archive.show(groups.world, entry.id).contents.trash_files == 0
    undone = undo(groups.world)
    assert any("ignored files" in note for note in undone.notes)
    assert (two.path / "new.txt").read_text() == "n\n"
    assert not (two.path / "run.log").exists()
    assert one.path.is_dir()


def test_rm_drops_refs_trash_and_record(groups: Groups) -> None:
    """A dropped archive is nowhere, the others are whole, and `undo` goes on to the removal before it.

    Red when the record of it stays: `undo` then fails for ever at what is not there.
    """
    one, two, three = groups.group(3)
    for member in (one, two):
        groups.work(member, {f"{member.id}.txt": "x\n"})
        remove(groups.world, RemoveRequest((member.id,)))
    newest, oldest = archive.ls(groups.world)
    dropped = archive.rm(groups.world, DropRequest((newest.id,)))
    assert ([entry.id for entry in dropped.dropped], dropped.left, dropped.exit_code) == ([newest.id], [], 0)
    assert refs(groups) == {oldest.id}
    assert [place.name for place in trash_of(groups.world.paths.worktrees).iterdir()] == [oldest.id]
    assert [row.id for row in undo(groups.world).restored] == [one.id]
    assert three.path.is_dir()


def test_rm_by_age(groups: Groups) -> None:
    """`--older-than` takes all that are older and nothing else."""
    _, two = groups.group(2)
    remove(groups.world, RemoveRequest((two.id,)))
    assert archive.rm(groups.world, DropRequest(older_than=1)).dropped == []
    assert len(archive.rm(groups.world, DropRequest(older_than=0)).dropped) == 1
    assert (archive.ls(groups.world), refs(groups)) == ([], set())


def test_rm_resolves_every_id_first(groups: Groups) -> None:
    """An unknown or ambiguous id, no id, and both ways at once are refused; nothing is dropped."""
    remove(groups.world, RemoveRequest(tuple(one.id for one in groups.group(2))))
    before = archive.ls(groups.world)
    asked: list[tuple[DropRequest, type[FanError]]] = [
        (DropRequest((before[0].id, "nothere")), NotFound),
        (DropRequest(), UsageError),
        (DropRequest((before[0].id,), 1.0), UsageError),
    ]
    for request, kind in asked:
        with pytest.raises(kind) as caught:
            archive.rm(groups.world, request)
        assert caught.value.not_done == "nothing was " + ("done" if kind is NotFound else "dropped")
    for name in ("abcd0001", "abcd0002"):
        for part in ("head", "index", "tree"):
            oid = groups.repos.git(groups.top, "rev-parse", f"refs/fan/archive/{before[0].id}/{part}")
            groups.repos.git(groups.top, "update-ref", f"refs/fan/archive/{name}/{part}", oid)
    with pytest.raises(Ambiguous):
        archive.show(groups.world, "abcd")
    assert {entry.id for entry in archive.ls(groups.world)} == {*(one.id for one in before), "abcd0001", "abcd0002"}


def test_rm_leaves_what_is_all_there_is_of_a_member(groups: Groups) -> None:
    """The archive of a removal that was broken off after its folder moved is not dropped; `rm` again finishes it.

    Red without the look at whether its member is still on record.
    """
    one = _broken_off(groups)
    (entry,) = [found for found in archive.ls(groups.world) if found.member == one.id]
    dropped = archive.rm(groups.world, DropRequest((entry.id,)))
    assert (dropped.dropped, dropped.exit_code, entry.id in refs(groups)) == ([], 1, True)
    assert f"fan rm {one.id}" in dropped.left[0].reason
    assert [row.id for row in undo(groups.world).restored] == [one.id]
    assert (one.path / "x.txt").read_text() == "x\n"


def _broken_off(groups: Groups) -> Member:
    """A member whose removal was broken off right after its folder had moved."""
    for length in range(20, 200):
        (one,) = groups.group(1)
        groups.work(one, {"x.txt": "x\n"})
        with pytest.raises(Crash), lit(length):
            remove(groups.world, RemoveRequest((one.id,)))
        if not one.path.exists():
            return one
        remove(groups.world, RemoveRequest((one.id,)))
    pytest.fail("its folder never moved")


def test_a_discarded_member_is_no_archive(groups: Groups) -> None:
    """After `--discard` nothing is listed, and `undo` takes the removal before it back."""
    one, two = groups.group(2)
    remove(groups.world, RemoveRequest((one.id,)))
    remove(groups.world, RemoveRequest((two.id,), discard=True))
    assert [entry.member for entry in archive.ls(groups.world)] == [one.id]
    assert [row.id for row in undo(groups.world).restored] == [one.id]
