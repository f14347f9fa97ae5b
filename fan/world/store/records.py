"""The store's door: intent and history. What tmux and git know is asked of them, not kept here."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fan.core.model import Change, Delivery, Group, Member, Report, Step
from fan.errors import AlreadyExists, Conflict, StoreFailed, UsageError
from fan.world.store.connection import connect, transaction
from fan.world.store.rows import insert, select, update

LIVING = "removed_at IS NULL"


class Removal(Struct, frozen=True):
    """What one `keep`, `rm` or `group rm` took away; `undo` brings it back as a whole."""

    id: str
    repo: Path
    verb: str
    at: float
    undone_at: float | None = None


class Archive(Struct, frozen=True):
    """One removed member: where its trash lies. Its refs are `refs/fan/archive/<id>/...`."""

    id: str
    removal: str
    member: str
    path: Path
    trash: Path
    note: str
    at: float
    restored_at: float | None = None


class Running(Struct, frozen=True):
    """The courier that last took the lock: process id, its start time and fan's version."""

    pid: int
    started: float
    version: str


class Store:
    """Groups, members, deliveries, reports, state changes, removals. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._db = connect(str(folder))
        self._lock = threading.RLock()

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            self._db.close()

    def version(self) -> int:
        """A number that changes whenever another process has written."""
        with self._read() as db:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

    # Groups and members

    def add_group(self, group: Group, members: Sequence[Member], deliveries: Sequence[Delivery]) -> None:
        """Put a whole group on record at once.

        Raises AlreadyExists when the stem, a folder or a session was taken meanwhile; nothing is then recorded.
        """
        try:
            with self._write() as db:
                insert(db, "groups", group)
                for member in members:
                    insert(db, "members", member)
                for delivery in deliveries:
                    insert(db, "deliveries", delivery, without="id")
        except sqlite3.IntegrityError as error:
            raise AlreadyExists(
                f"group {group.stem} was started by somebody else at the same moment",
                not_done="nothing was made",
                hint="fan ls",
            ) from error

    def groups(self, *, living: bool = True) -> list[Group]:
        """All groups, oldest first."""
        with self._read() as db:
            return select(db, Group, "groups", ("ended_at IS NULL" if living else "1") + " ORDER BY created_at")

    def group(self, group_id: str) -> Group:
        """One group by its id."""
        with self._read() as db:
            return select(db, Group, "groups", "id = ?", (group_id,))[0]

    def end_group_if_empty(self, group_id: str, at: float) -> None:
        """A group without living members has ended; its stem is free again."""
        with self._write() as db:
            db.execute(
                "UPDATE groups SET ended_at = ? WHERE id = ? AND ended_at IS NULL AND NOT EXISTS"
                ' (SELECT 1 FROM members WHERE "group" = ? AND removed_at IS NULL)',
                (at, group_id, group_id),
            )

    def members(self, group_id: str | None = None, *, living: bool = True) -> list[Member]:
        """Members by group and number."""
        where = (LIVING if living else "1") + ' AND ? IN ("group", \'\') ORDER BY "group", n'
        with self._read() as db:
            return select(db, Member, "members", where, (group_id or "",))

    def member(self, member_id: str) -> Member:
        """One member by its whole id, removed ones too."""
        with self._read() as db:
            return select(db, Member, "members", "id = ?", (member_id,))[0]

    def update_member(self, member_id: str, **changes: Any) -> Member:
        """Change some fields of a member; the member as it is now."""
        with self._write() as db:
            member = replace(select(db, Member, "members", "id = ?", (member_id,))[0], **changes)
            update(db, "members", "id", member)
            return member

    # Deliveries

    def add_delivery(self, delivery: Delivery) -> Delivery:
        """Queue a prompt; the delivery with its number."""
        with self._write() as db:
            return replace(delivery, id=insert(db, "deliveries", delivery, without="id"))

    def save_delivery(self, delivery: Delivery, *, was: Delivery) -> bool:
        """Record where a delivery stands, before what follows from it is done.

        False, and nothing is written, when it is no longer as it `was`: two never act on one delivery.
        """
        with self._write() as db:
            if select(db, Delivery, "deliveries", "id = ?", (delivery.id,)) != [was]:
                return False
            update(db, "deliveries", "id", delivery)
            return True

    def open_deliveries(self) -> list[Delivery]:
        """Those that the courier still has to do with, in the order they were queued."""
        with self._read() as db:
            return select(db, Delivery, "deliveries", "phase != 'done' ORDER BY id")

    def last_deliveries(self) -> dict[str, Delivery]:
        """The newest delivery of each member, by member."""
        with self._read() as db:
            where = "id IN (SELECT MAX(id) FROM deliveries GROUP BY member)"
            return {one.member: one for one in select(db, Delivery, "deliveries", where)}

    def deliveries(self, member_id: str) -> list[Delivery]:
        """All deliveries of a member, oldest first."""
        with self._read() as db:
            return select(db, Delivery, "deliveries", "member = ? ORDER BY id", (member_id,))

    # Reports and states

    def last_reports(self, members: Iterable[Member]) -> dict[str, Report]:
        """The newest report of each member's present launch, by member."""
        with self._read() as db:
            where = (
                "dropped = '' AND seq IN (SELECT MAX(seq) FROM reports WHERE dropped = '' GROUP BY member, launch)"
            )
            launches = {member.launch: member.id for member in members if member.launch}
            found = select(db, Report, "reports", where)
            return {one.member: one for one in found if launches.get(one.launch) == one.member}

    def reports_since(self, member: Member, seq: int) -> list[Report]:
        """What the member's present launch has reported after `seq`, oldest first."""
        with self._read() as db:
            where = "member = ? AND launch = ? AND seq > ? AND dropped = '' ORDER BY seq"
            return select(db, Report, "reports", where, (member.id, member.launch, seq))

    def add_change(self, change: Change) -> None:
        """Record that a member's state has changed."""
        with self._write() as db:
            insert(db, "changes", change)

    def last_changes(self) -> dict[str, Change]:
        """Each member's state as last recorded, by member."""
        with self._read() as db:
            where = "seq IN (SELECT MAX(seq) FROM changes GROUP BY member)"
            return {one.member: one for one in select(db, Change, "changes", where)}

    # Removals

    def add_removal(self, removal: Removal) -> None:
        """Begin a removal."""
        with self._write() as db:
            insert(db, "removals", removal)

    def archive(self, archive: Archive) -> None:
        """Record that a member is about to go; it counts as gone once `removed` is called."""
        with self._write() as db:
            db.execute("DELETE FROM archives WHERE id = ?", (archive.id,))
            insert(db, "archives", archive)

    def removed(self, archive_id: str, at: float) -> None:
        """The member of this archive is gone."""
        self._mark(archive_id, at, Step.REMOVED, None)

    def restored(self, archive_id: str, at: float) -> None:
        """The member of this archive is back. Raises Conflict when its group's or session's name was given away."""
        try:
            self._mark(archive_id, None, Step.READY, at)
        except sqlite3.IntegrityError as error:
            raise Conflict(
                "its group, folder or session has the name of one that was started since",
                not_done="the record was left as it is",
                hint="fan ls",
            ) from error

    def _mark(self, archive_id: str, removed_at: float | None, step: Step, restored_at: float | None) -> None:
        with self._write() as db:
            (archive,) = select(db, Archive, "archives", "id = ?", (archive_id,))
            update(db, "archives", "id", replace(archive, restored_at=restored_at))
            (member,) = select(db, Member, "members", "id = ?", (archive.member,))
            update(db, "members", "id", replace(member, removed_at=removed_at, step=step))
            if restored_at is not None:
                db.execute("UPDATE groups SET ended_at = NULL WHERE id = ?", (member.group,))

    def last_removal(self, repo: Path) -> Removal | None:
        """The newest removal in `repo` that was not undone."""
        with self._read() as db:
            where = "repo = ? AND undone_at IS NULL ORDER BY at DESC, rowid DESC LIMIT 1"
            found = select(db, Removal, "removals", where, (str(repo),))
            return found[0] if found else None

    def archives(self, removal_id: str) -> list[Archive]:
        """What a removal took away and did not give back yet."""
        with self._read() as db:
            return select(db, Archive, "archives", "removal = ? AND restored_at IS NULL", (removal_id,))

    def undone(self, removal_id: str, at: float) -> None:
        """The removal has been taken back as a whole."""
        with self._write() as db:
            db.execute("UPDATE removals SET undone_at = ? WHERE id = ?", (at, removal_id))

    # The courier

    def running(self) -> Running | None:
        """The courier on record, which may be dead."""
        with self._read() as db:
            found = select(db, Running, "courier")
            return found[0] if found else None

    def set_running(self, running: Running) -> None:
        """Record the courier that holds the lock."""
        with self._write() as db:
            values = (running.pid, running.started, running.version)
            db.execute("REPLACE INTO courier (one, pid, started, version) VALUES (1, ?, ?, ?)", values)

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _translated(self.folder):
            yield self._db

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _translated(self.folder), transaction(self._db) as db:
            yield db


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except UnicodeEncodeError as error:
        raise UsageError(
            "a name, path or text holds bytes that are not UTF-8", not_done="the last step is not on record"
        ) from error
    except sqlite3.Error as error:
        raise StoreFailed(
            f"the state file in {folder} cannot be used: {error}",
            not_done="the last step is not on record",
            hint="check the disk's free space and the folder's permissions, then run the command again",
        ) from error
