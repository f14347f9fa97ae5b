"""Removals and what they took away: all that `undo` and the archive verbs need to know."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from fan.core.model import Member
from fan.errors import Conflict
from fan.world.store.door import Door
from fan.world.store.rows import insert, select, update

GROUP_REMOVED = "group rm"
"""The verb of a removal by which a person gave up a group as a whole."""


class Removal(Struct, frozen=True):
    """What one `keep`, `rm` or `group rm`, its `verb`, took away; `undo` brings it back as a whole."""

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

    @property
    def place(self) -> Path:
        """Its own folder in the trash."""
        return self.trash / self.id


class Removals(Door):
    """Removals, and one archive for each member that went."""

    def add_removal(self, removal: Removal) -> None:
        """Begin a removal."""
        with self._write() as db:
            insert(db, "removals", removal)

    def archive(self, archive: Archive) -> None:
        """Record that a member is about to go; it counts as gone once `removed` is called."""
        with self._write() as db:
            db.execute("DELETE FROM archives WHERE id = ?", (archive.id,))
            insert(db, "archives", archive)

    def unfinished(self, member_id: str) -> Archive | None:
        """The archive of a living member whose removal was broken off."""
        with self._read() as db:
            where = "member = ? AND restored_at IS NULL ORDER BY at DESC, rowid DESC LIMIT 1"
            found = select(db, Archive, "archives", where, (member_id,))
            return found[0] if found else None

    def removed(self, archive_id: str, at: float, *, discarded: bool = False) -> None:
        """The member of this archive is gone, and its group with the last one; what was discarded has no archive."""
        self._mark(archive_id, at, forget=discarded)

    def reclaim(self, archive_id: str) -> None:
        """The member of this archive has its names again and is being brought back.

        Raises Conflict when its group's, folder's or session's name was given away.
        """
        try:
            self._mark(archive_id, None)
        except sqlite3.IntegrityError as error:
            raise Conflict(
                "its group, folder or session has the name of one that was started since",
                not_done="the record was left as it is",
                hint="fan ls",
            ) from error

    def restored(self, archive_id: str, at: float) -> None:
        """The member of this archive is back."""
        with self._write() as db:
            db.execute("UPDATE archives SET restored_at = ? WHERE id = ?", (at, archive_id))

    def _mark(self, archive_id: str, removed_at: float | None, *, forget: bool = False) -> None:
        """How far its making had come stays: one that never had an agent has none when it is back."""
        with self._write() as db:
            (archive,) = select(db, Archive, "archives", "id = ?", (archive_id,))
            (member,) = select(db, Member, "members", "id = ?", (archive.member,))
            member = replace(member, removed_at=removed_at)
            update(db, "members", "id", member)
            if removed_at is None:
                db.execute("UPDATE groups SET ended_at = NULL WHERE id = ?", (member.group,))
            end_if_empty(db, member)
            if forget:
                db.execute("DELETE FROM archives WHERE id = ?", (archive_id,))

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

    def archives_of(self, repo: Path) -> list[tuple[Removal, Archive]]:
        """All that was ever taken away in `repo` and not dropped since, given back or not; the newest first."""
        with self._read() as db:
            removals = {one.id: one for one in select(db, Removal, "removals", "repo = ?", (str(repo),))}
            found = select(db, Archive, "archives", "1 ORDER BY at DESC, rowid DESC")
            return [(removals[one.removal], one) for one in found if one.removal in removals]

    def places(self, before: float) -> list[Path]:
        """Where each removed worktree was put that was removed before that time, and not brought back."""
        with self._read() as db:
            return [one.place for one in select(db, Archive, "archives", "at < ? AND restored_at IS NULL", (before,))]

    def forget(self, archive_id: str) -> None:
        """An archive was dropped; no error if it was not on record."""
        with self._write() as db:
            db.execute("DELETE FROM archives WHERE id = ?", (archive_id,))

    def undone(self, removal_id: str, at: float) -> None:
        """The removal has been taken back as a whole."""
        with self._write() as db:
            db.execute("UPDATE removals SET undone_at = ? WHERE id = ?", (at, removal_id))


def end_if_empty(db: sqlite3.Connection, member: Member) -> None:
    """A group without living members has ended; its stem is free again."""
    if member.removed_at is not None:
        db.execute(
            "UPDATE groups SET ended_at = ? WHERE id = ? AND ended_at IS NULL AND NOT EXISTS"
            ' (SELECT 1 FROM members WHERE "group" = ? AND removed_at IS NULL)',
            (member.removed_at, member.group, member.group),
        )
