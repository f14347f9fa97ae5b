"""Removed worktrees leave the trash when their days are over, wherever it lies; nothing else there goes."""

from __future__ import annotations

from pathlib import Path

from fan.courier.__main__ import sweep_trash
from fan.world.store.removals import Archive, Removal
from fan.world.world import open_world

DAY = 86_400.0


def test_the_trash_beside_an_adopted_worktree_is_swept_too(tmp_path: Path) -> None:
    """Of a `.trash` beside a folder of the person's, only what is on record and old enough goes.

    Red when a whole such folder is swept, in which somebody else may keep things.
    """
    names = {f"FAN_{name}_DIR": str(tmp_path / name.lower()) for name in ("STATE", "WORKTREE", "CONFIG", "RUNTIME")}
    world = open_world(names, tmp_path)
    now, trash = world.clock.now(), tmp_path / "elsewhere" / ".trash"
    world.store.add_removal(Removal("r", tmp_path, "rm", now))
    for name, at in (("old", now - 8 * DAY), ("new", now - 6 * DAY)):
        world.store.archive(Archive(name, "r", name, tmp_path / name, trash, "", at))
        (trash / name / "tree").mkdir(parents=True)
    (trash / "theirs").mkdir()
    sweep_trash(world)
    assert sorted(one.name for one in trash.iterdir()) == ["new", "theirs"]
