"""`fan undo`: bring the last removal back, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.core.model import Row
from fan.errors import FanError, NotFound
from fan.verbs.removing import Left, exit_code
from fan.verbs.rows import rows
from fan.verbs.target import known
from fan.world.git import Repository, Restored
from fan.world.store.records import Archive
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Undone:
    """Members that are back, those that are not and why, and what differs from before."""

    restored: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all are back, 1 none is, 5 some."""
        return exit_code(self.restored, self.left)


def undo(world: World) -> Undone:
    """Take back the newest removal in this repository that was not taken back yet."""
    repo = world.git.repository(world.cwd)
    removal = world.store.last_removal(repo.root)
    while removal and not world.store.archives(removal.id):
        # Nothing of it was taken away, or all of it is back already.
        world.store.undone(removal.id, world.clock.now())
        removal = world.store.last_removal(repo.root)
    if removal is None:
        raise NotFound(
            "there is no removal to undo in this repository", not_done="nothing was changed", hint="fan ls"
        )
    result = Undone()
    back = [archive for archive in world.store.archives(removal.id) if _restore(world, repo, archive, result)]
    if not result.left:
        world.store.undone(removal.id, world.clock.now())
    members = {archive.member for archive in back}
    result.restored.extend(rows(world, [one for one in known(world) if one.member.id in members]))
    return result


def _restore(world: World, repo: Repository, archive: Archive, result: Undone) -> bool:
    """Bring one member back; False, with the reason on the result, when it cannot be."""
    member = world.store.member(archive.member)
    was_removed = member.removed_at is not None
    try:
        # The record first: it refuses where the name is taken by now.
        world.store.restored(archive.id, world.clock.now())
        if not was_removed and archive.path.exists():
            return True  # the removal was broken off before it moved it
        notes = _bring_back(world, repo, archive).notes
    except FanError as error:
        result.left.append(Left(member.session, f"{error.message} {error.not_done}".strip()))
        return False
    result.notes.extend(f"{member.branch}: {note}" for note in notes)
    return True


def _bring_back(world: World, repo: Repository, archive: Archive) -> Restored:
    try:
        return repo.restore(archive.trash / archive.id)
    except FanError:
        world.store.removed(archive.id, world.clock.now())
        world.store.end_group_if_empty(world.store.member(archive.member).group, world.clock.now())
        raise
