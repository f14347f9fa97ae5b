"""`fan archive`: what removed members have left in this repository, and dropping it for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from fan.core.caller import Act
from fan.errors import Ambiguous, Conflict, FanError, NotFound, UsageError
from fan.verbs.left import Left, exit_code
from fan.verbs.removing import alone
from fan.verbs.target import SHORTEST_PREFIX
from fan.world.files import is_folder, must_see
from fan.world.git import Archive as Refs
from fan.world.git import Contents, Repository
from fan.world.git.trash import throw_away
from fan.world.paths import trash_of
from fan.world.store.removals import Archive, Removal
from fan.world.world import World

DAY = 86_400.0


class Entry(Struct, frozen=True):
    """One archive. `files` counts the names that differ from the member's base.

    `trash` is whether the folder itself, ignored files and all, is still there; `restored` whether it was given
    back; `member` and `group` are empty where only the refs are known.
    """

    id: str
    at: float
    verb: str
    member: str
    group: str
    branch: str
    commit: str
    path: str
    files: int
    trash: bool
    restored: bool


class Shown(Struct, frozen=True):
    """One archive with what it holds, and the refs that hold it."""

    archive: Entry
    contents: Contents
    refs: dict[str, str]


@dataclass(frozen=True, slots=True)
class DropRequest:
    """Archives by id, or all that are more than so many days old."""

    ids: tuple[str, ...] = ()
    older_than: float | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """What is gone for good, and what stays and why (by id)."""

    dropped: list[Entry] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all went, 1 none did, 5 some."""
        return exit_code(self.dropped, self.left)


@dataclass(frozen=True, slots=True)
class _Kept:
    """An archive as refs and record have it."""

    refs: Refs
    place: Path
    record: Archive | None
    removal: Removal | None


def ls(world: World) -> list[Entry]:
    """The archives of the repository we stand in, the newest first."""
    repo = world.git.repository(world.cwd)
    return [_entry(world, repo, one) for one in _all(world, repo)]


def show(world: World, wanted: str) -> Shown:
    """One archive. Raises NotFound, Ambiguous."""
    repo = world.git.repository(world.cwd)
    one = _find(_all(world, repo), wanted)
    return Shown(_entry(world, repo, one), repo.contents(one.refs, one.place), one.refs.refs)


def rm(world: World, request: DropRequest) -> Dropped:
    """Drop archives for good: their trash, then their refs. Every id is resolved before anything is touched."""
    world.allow(Act.ARCHIVE_REMOVE)
    if bool(request.ids) == (request.older_than is not None):
        raise UsageError("name archives, or --older-than DAYS", not_done="nothing was dropped", hint="fan archive ls")
    with alone(world):
        repo = world.git.repository(world.cwd)
        everything = _all(world, repo)
        if request.older_than is not None:
            before = world.clock.now() - request.older_than * DAY
            wanted = [one for one in everything if one.refs.at < before]
        else:
            wanted = [_find(everything, text) for text in dict.fromkeys(request.ids)]
        result = Dropped()
        for one in wanted:
            entry = _entry(world, repo, one)
            try:
                _drop(world, repo, one)
            except FanError as error:
                result.left.append(Left.because(one.refs.name, error))
            else:
                result.dropped.append(entry)
    return result


def _all(world: World, repo: Repository) -> list[_Kept]:
    records = {archive.id: (removal, archive) for removal, archive in world.store.archives_of(repo.root)}
    found = []
    for refs in repo.archives():
        removal, record = records.get(refs.name, (None, None))
        place = record.place if record else trash_of(world.paths.worktrees) / refs.name
        found.append(_Kept(refs, place, record, removal))
    return found


def _entry(world: World, repo: Repository, one: _Kept) -> Entry:
    record, refs = one.record, one.refs
    member = world.store.member(record.member) if record else None
    return Entry(
        id=refs.name,
        at=refs.at,
        verb=one.removal.verb if one.removal else "",
        member=member.id if member else "",
        group=world.store.group(member.group).stem if member else "",
        branch=refs.branch or "",
        commit=refs.oid,
        path=str(refs.path),
        files=len(repo.archived_files(refs)),
        trash=bool(is_folder(one.place / "tree")),
        restored=bool(record and record.restored_at is not None),
    )


def records(world: World, repo: Repository, wanted: Sequence[str]) -> list[Archive]:
    """The archives of these ids, to be brought back. Raises NotFound, Ambiguous, Conflict for one that is back."""
    everything = _all(world, repo)
    found = list(dict.fromkeys(_find(everything, text).refs.name for text in wanted))
    kept = {one.refs.name: one.record for one in everything}
    return [_removed(kept[name], name) for name in found]


def _removed(record: Archive | None, name: str) -> Archive:
    if record is None:
        raise NotFound(
            f"the archive {name} belongs to no member on record",
            not_done="nothing was changed",
            hint=f"fan archive show {name}",
        )
    if record.restored_at is not None:
        raise Conflict(f"the archive {name} was brought back already", not_done="nothing was changed", hint="fan ls")
    return record


def _find(everything: Sequence[_Kept], text: str) -> _Kept:
    found = [one for one in everything if one.refs.name == text]
    if not found and len(text) >= SHORTEST_PREFIX:
        found = [one for one in everything if one.refs.name.startswith(text)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.refs.name for one in found)
        raise Ambiguous(
            f"`{text}` fits several archives: {names}", not_done="nothing was done", hint="fan archive ls"
        )
    raise NotFound(
        f"there is no archive `{text}` in this repository", not_done="nothing was done", hint="fan archive ls"
    )


def _drop(world: World, repo: Repository, one: _Kept) -> None:
    """The trash first: refs without it still say what there was."""
    record = one.record
    if record and record.restored_at is None and world.store.member(record.member).removed_at is None:
        raise Conflict(
            "its member's removal was broken off, and this may be all there is of it",
            not_done="it was not dropped",
            hint=f"fan rm {record.member}",
        )
    must_see(one.place, "it was not dropped")
    throw_away(one.place)
    repo.delete_archive(one.refs.name)
    world.store.forget(one.refs.name)
