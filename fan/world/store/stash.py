"""The stash on record: which room keeps which files."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

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

    def stash(self, new: Sequence[Stashed]) -> list[Stashed]:
        """Keep some more in one room; what went for them. One that is there already counts as put just now.

        Raises TooLarge where messages still point to so much that not all of them fit; nothing has then changed.
        """
        room, added = new[0].room, {one.sha256: one for one in new}
        with self._write() as db:
            for one in new:
                db.execute("UPDATE stash SET at = ? WHERE room = ? AND sha256 = ?", (one.at, room, one.sha256))
            kept = _of_room(db, room)
            there = {one.sha256 for one in kept}
            fresh = [one for sha, one in added.items() if sha not in there]
            going = evicted(kept, _pointed(db, room) | added.keys(), sum(one.size for one in fresh))
            if fresh and going is None:
                raise TooLarge(
                    f"the room's stash is full: its messages still point to most of its {LARGEST_ROOM >> 20} MiB",
                    not_done="nothing was stashed",
                    hint="fan stash ls",
                )
            gone = going or []
            for one in gone:
                _forget(db, one)
            for one in fresh:
                insert(db, "stash", one)
            return gone

    def take_back(self, fresh: Sequence[Stashed]) -> list[Stashed]:
        """Keep these no more; those that went: not what was put again, or a message points to, since."""
        with self._write() as db:
            going = [
                one for one in fresh if one in _of_room(db, one.room) and one.sha256 not in _pointed(db, one.room)
            ]
            for one in going:
                _forget(db, one)
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
