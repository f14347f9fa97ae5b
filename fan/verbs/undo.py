"""`fan undo`: bring the last removal back, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import json

from fan.core.caller import Act
from fan.core.model import Row
from fan.errors import FanError, NotFound
from fan.verbs.removing import Left, alone, exit_code
from fan.verbs.rows import rows
from fan.verbs.target import known
from fan.world.git import Merged, Repository
from fan.world.store.removals import Archive
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
    """Take back the newest removal in this repository that was not taken back yet; a merge before it stays."""
    world.allow(Act.UNDO)
    with alone(world):
        return _undo(world, world.git.repository(world.cwd))


def _undo(world: World, repo: Repository) -> Undone:
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
    archives = world.store.archives(removal.id)
    back = [archive for archive in archives if _restore(world, repo, archive, result)]
    if not result.left:
        world.store.undone(removal.id, world.clock.now())
    result.notes.extend(_merge_stays(repo, archives[0].note))
    members = {archive.member for archive in back}
    result.restored.extend(rows(world, [one for one in known(world) if one.member.id in members]))
    return result


def _merge_stays(repo: Repository, note: str) -> list[str]:
    """What is to say of the merge that came before the removal: the person's branch is theirs to move."""
    if not note:
        return []
    merged = json.decode(note, type=Merged)
    line = repo.take_back_line(merged)
    if not line:
        return []
    return [f"{merged.into} still has what was merged, as {merged.commit[:10]}; to take it back: {line}"]


def _restore(world: World, repo: Repository, archive: Archive, result: Undone) -> bool:
    """Bring one member back; False, with the reason on the result, when it cannot be."""
    member = world.store.member(archive.member)
    try:
        # Its names first: they may have been given away. That it is back is said when it is.
        world.store.reclaim(archive.id)
        notes = _bring_back(world, repo, archive, was_removed=member.removed_at is not None)
    except FanError as error:
        result.left.append(Left(member.session, f"{error.message} {error.not_done}".strip()))
        return False
    world.store.restored(archive.id, world.clock.now())
    result.notes.extend(f"{member.branch}: {note}" for note in notes)
    return True


def _bring_back(world: World, repo: Repository, archive: Archive, *, was_removed: bool) -> tuple[str, ...]:
    """Notes on what differs; none where the removal was broken off before it moved anything."""
    try:
        return repo.restore(archive.place).notes
    except FanError as error:
        if was_removed:
            world.store.removed(archive.id, world.clock.now())
        elif isinstance(error, NotFound) and archive.path.exists():
            return ()
        raise
