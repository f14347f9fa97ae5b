"""The stash on record: which room keeps which files."""

from __future__ import annotations

import sqlite3

from fan.core.mail import Message
from fan.core.stash import LARGEST_ROOM, Stashed, evicted
from fan.errors import Conflict, TooLarge
from fan.world.store.door import Door
from fan.world.store.rows import insert, select


class StashRows(Door):
    """The files of all rooms; their bytes lie in world.stash."""

    def stashed(self, room: str | None = None) -> list[Stashed]:
        """What one room keeps, or all do, oldest first."""
        with self._read() as db:
            return _of_room(db, room) if room is not None else select(db, Stashed, "stash", "1 ORDER BY at, rowid")

    def stash(self, new: Stashed) -> list[Stashed]:
        """Keep one more; what went for it. One that is there already counts as put just now, under its first name.

        Raises TooLarge where messages still point to so much that it does not fit; nothing has then changed.
        """
        with self._write() as db:
            again = db.execute(
                "UPDATE stash SET at = ? WHERE room = ? AND sha256 = ?", (new.at, new.room, new.sha256)
            ).rowcount
            if again:
                return []
            kept = _of_room(db, new.room)
            going = evicted(kept, _pointed(db, new.room), new.size)
            if going is None:
                raise TooLarge(
                    f"the room's stash is full: its messages still point to most of its {LARGEST_ROOM >> 20} MiB",
                    not_done="nothing was stashed",
                    hint="fan stash ls",
                )
            for one in going:
                _forget(db, one)
            insert(db, "stash", new)
            return going

    def unstash(self, one: Stashed) -> None:
        """Keep one no more. Raises Conflict while a message points to it."""
        with self._write() as db:
            if one.sha256 in _pointed(db, one.room):
                raise Conflict(
                    f"a message still points to {one.sha256[:12]}", not_done="it stays", hint="fan mail ls"
                )
            _forget(db, one)

    def rooms(self) -> set[str]:
        """Every room that holds messages or files."""
        with self._read() as db:
            rows = db.execute("SELECT room FROM messages UNION SELECT room FROM stash UNION SELECT room FROM evicted")
            return {str(row[0]) for row in rows}

    def removed_by(self, verb: str) -> set[str]:
        """The groups of which a removal by this verb took members that are still away."""
        with self._read() as db:
            rows = db.execute(
                'SELECT DISTINCT members."group" FROM removals JOIN archives ON archives.removal = removals.id'
                " JOIN members ON members.id = archives.member WHERE removals.verb = ? AND restored_at IS NULL",
                (verb,),
            )
            return {str(row[0]) for row in rows}

    def empty_stash(self, room: str) -> None:
        """Forget all that a room kept."""
        with self._write() as db:
            db.execute("DELETE FROM stash WHERE room = ?", (room,))


def _of_room(db: sqlite3.Connection, room: str) -> list[Stashed]:
    return select(db, Stashed, "stash", "room = ? ORDER BY at, rowid", (room,))


def _pointed(db: sqlite3.Connection, room: str) -> set[str]:
    found = select(db, Message, "messages", "room = ? AND attachments != '[]'", (room,))
    return {file.sha256 for message in found for file in message.attachments}


def _forget(db: sqlite3.Connection, one: Stashed) -> None:
    db.execute("DELETE FROM stash WHERE room = ? AND sha256 = ?", (one.room, one.sha256))
