"""Mail on record: rooms as rings, threads fixed when a message is stored, receipts beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct, json
from msgspec.structs import replace

from fan.core.mail import (
    BURST,
    RING,
    RING_BYTES,
    Message,
    all_checked,
    answers,
    charged,
    overflow,
    threaded,
)
from fan.errors import NotFound, RateLimited
from fan.world.store.door import Door
from fan.world.store.rows import insert, select

TABLES = ("messages", "evicted")
UNREAD = "read_at IS NULL AND closed_at IS NULL"


class Posted(Struct, frozen=True):
    """A message as it was stored; `repeated`: it had been before, by the same key. `evicted` others went for it."""

    message: Message
    evicted: int = 0
    repeated: bool = False


class Mailbox(Door):
    """The messages of all rooms."""

    def post(
        self, messages: Sequence[Message], *, charge: bool = True, now: Callable[[], float] | None = None
    ) -> list[Posted]:
        """Store one note to one or several inboxes as a whole, charged to its sender once.

        Their time is `now` as they are stored: files handed over and other writers may have taken a while, and a line
        that has told of mail since then has not told of these.

        Raises Empty, TooLarge; NotFound for a reply to an id never issued; RateLimited. Nothing is then stored.
        """
        messages = all_checked(messages)
        with self._write() as db:
            if now:
                messages = [replace(message, at=now()) for message in messages]
            earlier = [_by_key(db, message) for message in messages]
            if charge and not all(earlier):
                _charge(db, messages[0].sender, messages[0].at)
            return [
                Posted(before, repeated=True) if before else _stored(db, message)
                for message, before in zip(messages, earlier, strict=True)
            ]

    def admit(self, messages: Sequence[Message], *, at: float) -> None:
        """For whoever has to make something before it posts: raises what `post` would raise at this time."""
        messages = all_checked(messages)
        with self._read() as db:
            if not all(_by_key(db, message) for message in messages):
                _allowance(db, messages[0].sender, at)
                _parent(db, messages[0])

    def message(self, message_id: str) -> Message:
        """One message by its id. Raises NotFound, which says so where it has been evicted."""
        with self._read() as db:
            found = select(db, Message, "messages", "id = ?", (message_id,))
            if found:
                return found[0]
            gone = db.execute("SELECT 1 FROM evicted WHERE id = ?", (message_id,)).fetchone()
        why = "was evicted: its room was full" if gone else "was never issued"
        raise NotFound(f"the message `{message_id}` {why}", not_done="nothing was done", hint="fan mail read")

    def inbox(self, address: str, *, thread: str = "") -> list[Message]:
        """What lies in an inbox, of one thread or of all, oldest first."""
        with self._read() as db:
            return select(db, Message, "messages", "inbox = ? AND ? IN (thread, '') ORDER BY seq", (address, thread))

    def unread(self, address: str) -> list[Message]:
        """The unread ones in an inbox, oldest first."""
        with self._read() as db:
            return select(db, Message, "messages", f"inbox = ? AND {UNREAD} ORDER BY seq", (address,))

    def unread_counts(self) -> dict[str, int]:
        """How many are unread, by inbox."""
        with self._read() as db:
            return dict(db.execute(f"SELECT inbox, COUNT(*) FROM messages WHERE {UNREAD} GROUP BY inbox"))  # noqa: S608

    def unread_by_inbox(self, addresses: Iterable[str]) -> dict[str, list[Message]]:
        """What the agents at these addresses are to be told of, by inbox, oldest first.

        What waits for those that are gone may be much, and stays unread.
        """
        with self._read() as db:
            where = f"inbox IN (SELECT value FROM json_each(?)) AND {UNREAD} ORDER BY seq"  # noqa: S608 - ours
            found = select(db, Message, "messages", where, (json.encode(list(addresses)).decode(),))
        inboxes: dict[str, list[Message]] = {}
        for one in found:
            inboxes.setdefault(one.inbox, []).append(one)
        return inboxes

    def thread(self, thread: str) -> list[Message]:
        """All of one thread, whoever wrote it, oldest first."""
        with self._read() as db:
            return select(db, Message, "messages", "thread = ? ORDER BY seq", (thread,))

    def thread_of(self, some_id: str) -> str:
        """The thread that has this id or a message of this id, evicted or not; empty: it was never issued."""
        sql = " UNION ALL ".join(f"SELECT thread FROM {table} WHERE ? IN (id, thread)" for table in TABLES)  # noqa: S608
        with self._read() as db:
            found = db.execute(f"{sql} LIMIT 1", (some_id,) * len(TABLES)).fetchone()
        return str(found[0]) if found else ""

    def messages(self) -> list[Message]:
        """All messages, oldest first."""
        with self._read() as db:
            return select(db, Message, "messages", "1 ORDER BY seq")

    def evicted(self, address: str) -> int:
        """How many messages an inbox has lost to newer ones of its room, of which its owner has not been told."""
        with self._read() as db:
            where = "inbox = ? AND NOT told"
            return int(db.execute(f"SELECT COUNT(*) FROM evicted WHERE {where}", (address,)).fetchone()[0])  # noqa: S608

    def tell_evicted(self, address: str, count: int) -> None:
        """Note that the owner has been told of so many, the first that went."""
        with self._write() as db:
            db.execute(
                "UPDATE evicted SET told = 1 WHERE rowid IN"
                " (SELECT rowid FROM evicted WHERE inbox = ? AND NOT told ORDER BY rowid LIMIT ?)",
                (address, count),
            )

    def mark(self, ids: Iterable[str], receipt: Literal["read", "closed"], at: float) -> None:
        """Note that these have been read or closed; the first time counts."""
        column = f"{receipt}_at"
        with self._write() as db:
            db.executemany(
                f"UPDATE messages SET {column} = ? WHERE id = ? AND {column} IS NULL",  # noqa: S608 - ours
                [(at, one) for one in ids],
            )

    def end_room(self, room: str) -> None:
        """Forget a room's messages."""
        with self._write() as db:
            db.execute("DELETE FROM evicted WHERE room = ?", (room,))
            db.execute("DELETE FROM messages WHERE room = ?", (room,))


def _by_key(db: sqlite3.Connection, message: Message) -> Message | None:
    if not message.key:
        return None
    # Recipients of one name in two repositories are told apart by the room.
    values = (message.sender, message.room, message.recipient, message.key)
    where = "sender = ? AND room = ? AND recipient = ? AND key = ? AND key != ''"
    return next(iter(select(db, Message, "messages", where, values)), None)


def _charge(db: sqlite3.Connection, sender: str, at: float) -> None:
    left = _allowance(db, sender, at)
    db.execute("INSERT OR REPLACE INTO senders (address, allowance, at) VALUES (?, ?, ?)", (sender, left, at))


def _allowance(db: sqlite3.Connection, sender: str, at: float) -> float:
    """What a sender has left after one more. Raises RateLimited."""
    row = db.execute("SELECT allowance, at FROM senders WHERE address = ?", (sender,)).fetchone()
    left = charged(row[0], at - row[1]) if row else charged(float(BURST), 0.0)
    if left is None:
        raise RateLimited(
            f"{BURST} messages in a row, then 30 a minute: this one came too soon after them."
            " That is mostly two agents answering each other, or a loop that does not read what it gets."
            " Read what has come first, then send one message that says it all",
            not_done="nothing was sent",
            hint="fan mail read --unread",
        )
    return left


def _stored(db: sqlite3.Connection, message: Message) -> Posted:
    parent, evicted = _parent(db, message)
    message = threaded(message, parent, evicted)
    message = replace(message, seq=insert(db, "messages", message, without="seq"))
    if parent and answers(message, parent):
        db.execute(
            "UPDATE messages SET answered_at = ?, closed_at = CASE kind WHEN 'question' THEN ? ELSE closed_at END"
            " WHERE id = ? AND answered_at IS NULL",
            (message.at, message.at, parent.id),
        )
    return Posted(message, evicted=_evict(db, message.room))


def _parent(db: sqlite3.Connection, message: Message) -> tuple[Message | None, str]:
    """The message that this one replies to, or the thread of one that has been evicted."""
    if not message.reply_to:
        return None, ""
    found = select(db, Message, "messages", "id = ?", (message.reply_to,))
    if found:
        return found[0], ""
    row = db.execute("SELECT thread FROM evicted WHERE id = ?", (message.reply_to,)).fetchone()
    if row is None:
        raise NotFound(
            f"there never was a message `{message.reply_to}`", not_done="nothing was sent", hint="fan mail ls"
        )
    return None, row[0]


def _evict(db: sqlite3.Connection, room: str) -> int:
    """Take the oldest of a room away until it is within its bounds; how many."""
    count, size = db.execute("SELECT COUNT(*), TOTAL(size) FROM messages WHERE room = ?", (room,)).fetchone()
    if count <= RING and size <= RING_BYTES:
        return 0
    rows = db.execute("SELECT seq, size FROM messages WHERE room = ? ORDER BY seq", (room,)).fetchall()
    gone = overflow([size for _, size in rows])
    for seq, _ in rows[:gone]:
        db.execute(
            "INSERT OR IGNORE INTO evicted (id, room, thread, inbox)"
            " SELECT id, room, thread, inbox FROM messages WHERE seq = ?",
            (seq,),
        )
        db.execute("DELETE FROM messages WHERE seq = ?", (seq,))
    return gone
