"""`fan stash put|get|ls|rm`, and the files handed over by mail. Nothing to do with git's stash."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fan.core.caller import Verified
from fan.core.mail import HUMAN, Attachment
from fan.core.stash import SHORTEST_ID, Stashed, folder_of
from fan.errors import Ambiguous, FanError, NotAllowed, NotFound
from fan.verbs.target import here
from fan.world.files import there
from fan.world.stash import Copied, digest_of, open_regular
from fan.world.world import World

SHOWN_ID = 12


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the stash as people see it; `missing`: its bytes are away. `name` is its giver's word for it."""

    id: str
    path: str
    name: str
    size: int
    sha256: str
    room: str
    at: float
    missing: bool = False
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The files of one message; `fresh` are the copies that the stash did not have before."""

    files: tuple[Attachment, ...]
    fresh: list[Stashed]


def put(world: World, path: str) -> Kept:
    """Keep a copy of a file in the caller's room.

    Raises NotFound, NotAllowed, UsageError, DiskFailed; TooLarge, also when the room is full.
    """
    file, room = Path(path), own_room(world)
    with _copied(world, file) as copy:
        (one,), _ = _place(world, [(file, copy)], room)
    return _kept(one, world.stash.path(one))


def get(world: World, wanted: str) -> bytes:
    """The bytes of a kept file. Raises NotFound, Ambiguous, DiskFailed."""
    return world.stash.read(_find(world, wanted))


def save(world: World, wanted: str, path: str) -> Path:
    """Write a kept file to a new file at `path`. Raises what `get` raises, AlreadyExists, NotAllowed."""
    from fan.world.files import write_new

    if world.caller.verified is Verified.FOLDER:
        raise NotAllowed(
            "who writes from a sandbox has to write the file itself",
            not_done="nothing was written",
            hint=f"fan stash get {wanted} > FILE",
        )
    target = Path(path)
    write_new(target, get(world, wanted))
    return target


def ls(world: World) -> list[Kept]:
    """The kept files of the caller's room, for a person of all rooms; oldest first."""
    names = {group.id: group.stem for group in world.store.groups(living=False)}
    found = []
    for one in _visible(world):
        path = world.stash.path(one)
        found.append(_kept(one, path, room=names.get(one.room, one.room), missing=there(path) is False))
    return found


def rm(world: World, wanted: str) -> Kept:
    """Keep a file no more. Raises NotFound, Ambiguous; Conflict while a message points to it."""
    one = _find(world, wanted)
    with world.stash.locked():
        world.store.unstash(one)
        world.stash.remove([one])
    return _kept(one, world.stash.path(one), missing=True)


@contextmanager
def handed_over(world: World, paths: Sequence[str], room: str) -> Iterator[HandedOver]:
    """The files at these paths for a message that will lie in `room`; all of them, or none is kept.

    One in a member's worktree, or in the stash, is stashed there; any other stays a path. Where the message is not
    stored after all, the copies made for it are taken back. Raises what `put` raises.
    """
    attachments: dict[str, Attachment] = {}
    copies: dict[str, tuple[Path, Copied]] = {}
    with ExitStack() as stack:
        for path in dict.fromkeys(paths):
            file = Path(path)
            if world.caller.verified is Verified.FOLDER or _is_ours(world, file):
                copies[path] = file, stack.enter_context(_copied(world, file))
            else:
                attachments[path] = _elsewhere(file)
        kept, fresh = _place(world, list(copies.values()), room)
    for path, one in zip(copies, kept, strict=True):
        attachments[path] = Attachment(_name(Path(path)), str(world.stash.path(one)), one.sha256, one.size)
    try:
        yield HandedOver(tuple(attachments[path] for path in paths), fresh)
    except BaseException:
        with suppress(FanError):  # what then stays is the next to go when the room is full
            take_back(world, fresh)
        raise


def take_back(world: World, fresh: Sequence[Stashed]) -> None:
    """Keep these no more, but for what somebody has put or pointed to since. Raises Busy."""
    if fresh:
        with world.stash.locked():
            world.stash.remove(world.store.take_back(fresh))


def own_room(world: World) -> str:
    """Where the caller's own files are kept: its group, else the repository it stands in, else the person's room."""
    if world.caller.member:
        return world.caller.member.group
    root = here(world)
    return f"repo:{root}" if root else HUMAN


@contextmanager
def _copied(world: World, file: Path) -> Iterator[Copied]:
    handle = open_regular(file, _within(world, file))
    try:
        with world.stash.copied(handle) as copy:
            yield copy
    finally:
        os.close(handle)


def _place(world: World, copies: Sequence[tuple[Path, Copied]], room: str) -> tuple[list[Stashed], list[Stashed]]:
    """Under the lock, place whole copies, put them on record as one, and delete what went for them.

    All that is kept, and what of it was not there before. A crash leaves files without a row at most: they are swept.
    """
    if not copies:
        return [], []
    with world.stash.locked():
        before = {one.sha256: one.name for one in world.store.stashed(room)}
        names = {copy.sha256: _name(file) for file, copy in reversed(copies)} | before
        now = world.clock.now()
        kept = [Stashed(room, copy.sha256, names[copy.sha256], copy.size, now) for _, copy in copies]
        fresh = [one for one in dict.fromkeys(kept) if one.sha256 not in before]
        try:
            for (_, copy), one in zip(copies, kept, strict=True):
                world.stash.place(copy, one)
            world.stash.remove(world.store.stash(kept))
        except FanError:
            world.stash.remove(fresh)
            raise
    return kept, fresh


def _elsewhere(file: Path) -> Attachment:
    """A file that stays where it is."""
    handle = open_regular(file)
    try:
        digest, size = digest_of(handle)
    finally:
        os.close(handle)
    return Attachment(_name(file), os.path.realpath(file), digest, size)


def _within(world: World, file: Path) -> Path | None:
    """The folder that a caller in a sandbox may hand files over from: we read more than it can."""
    caller = world.caller
    if caller.verified is not Verified.FOLDER or caller.member is None:
        return None
    member = caller.member
    folders = (member.path, world.paths.requests(member.id), world.stash.folder / folder_of(member.group))
    real = Path(os.path.realpath(file))
    return next((one.resolve() for one in folders if real.is_relative_to(one.resolve())), member.path.resolve())


def _is_ours(world: World, file: Path) -> bool:
    """Whether a file goes when a member or a room goes."""
    real = Path(os.path.realpath(file))
    return any(
        real.is_relative_to(folder.resolve())
        for folder in (world.stash.folder, *(member.path for member in world.store.members()))
    )


def _visible(world: World) -> Sequence[Stashed]:
    return world.store.stashed(own_room(world) if world.caller.is_agent else None)


def _find(world: World, wanted: str) -> Stashed:
    """What an id, its first characters, or a stored path means; in the caller's own room first."""
    everything = _visible(world)
    found = [one for one in everything if str(world.stash.path(one)) == wanted]
    if not found and len(wanted) >= SHORTEST_ID:
        found = [one for one in everything if one.sha256.startswith(wanted)]
    if not found:
        raise NotFound(f"the stash holds no `{wanted}`", not_done="nothing was done", hint="fan stash ls")
    if len({one.sha256 for one in found}) > 1:
        shown = ", ".join(one.sha256[:SHOWN_ID] for one in found)
        raise Ambiguous(f"`{wanted}` fits several: {shown}", not_done="nothing was done", hint="fan stash ls")
    room = own_room(world)
    return next((one for one in found if one.room == room), found[0])


def _kept(one: Stashed, path: Path, *, room: str = "", missing: bool = False) -> Kept:
    shown = one.sha256[:SHOWN_ID]
    return Kept(shown, str(path), one.name, one.size, one.sha256, room or one.room, one.at, missing)


def _name(file: Path) -> str:
    """What its giver calls it; bytes that are no UTF-8 are shown as such."""
    return os.fsencode(file.name).decode("utf-8", "replace")
