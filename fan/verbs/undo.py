"""`fan undo`: bring the last removal, or single archives, back byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import json

from fan.core.caller import Act
from fan.core.model import Row
from fan.errors import FanError, NotFound
from fan.verbs.archive import records
from fan.verbs.left import Left, exit_code
from fan.verbs.removing import alone
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


def undo(world: World, archives: Sequence[str] = ()) -> Undone:
    """Take back the newest removal in this repository that was not taken back yet; a merge before it stays.

    With `archives` (ids) these instead, of whichever removals.
    """
    world.allow(Act.UNDO)
    with alone(world):
        repo = world.git.repository(world.cwd)
        result = Undone()
        wanted = records(world, repo, archives) if archives else _last(world, repo, result)
        return _undo(world, repo, wanted, result)


def _last(world: World, repo: Repository, result: Undone) -> list[Archive]:
    """What the newest removal took; on the result those after it that nothing can bring back."""
    lost = []
    while (removal := world.store.last_removal(repo.root)) and not world.store.archives(removal.id):
        world.store.undone(removal.id, world.clock.now())
        lost.append(f"a later `{removal.verb}` has left nothing to bring back: discarded, or its archives dropped")
    if removal is None:
        raise NotFound(
            "; ".join(["there is no removal to undo in this repository", *lost]),
            not_done="nothing was changed",
            hint="fan archive ls",
        )
    result.notes.extend(lost)
    return world.store.archives(removal.id)


def _undo(world: World, repo: Repository, archives: Sequence[Archive], result: Undone) -> Undone:
    back = [archive for archive in archives if _restore(world, repo, archive, result)]
    for removal in {archive.removal for archive in back}:
        if not world.store.archives(removal):
            world.store.undone(removal, world.clock.now())
    if result.left:
        result.notes.append("what else was removed comes back by its archive: fan archive ls, then fan undo ARCHIVE")
    for note in dict.fromkeys(archive.note for archive in archives):
        result.notes.extend(_merge_stays(repo, note))
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
        result.left.append(Left.because(member.session, error))
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
