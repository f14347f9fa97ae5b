"""What waits for the owner of an inbox, whether or not it was read."""

from __future__ import annotations

from fan.core.mail import Message
from fan.world.store.door import Door
from fan.world.store.rows import select

STANDING = "('question', 'alert')"
"""Kinds that are not over when they have been read."""


class Waiting(Door):
    """Items of an inbox: they close by themselves, by an answer or when what they tell of is over."""

    def waiting(self, address: str) -> list[Message]:
        """Those that are open, oldest first."""
        with self._read() as db:
            is_open = f"closed_at IS NULL AND answered_at IS NULL AND (read_at IS NULL OR kind IN {STANDING})"
            return select(db, Message, "messages", f"inbox = ? AND {is_open} ORDER BY seq", (address,))

    def close_questions(self, asker: str, at: float) -> None:
        """Nobody is at this address any more who could read an answer."""
        with self._write() as db:
            db.execute(
                "UPDATE messages SET closed_at = ? WHERE sender = ? AND kind = 'question' AND closed_at IS NULL",
                (at, asker),
            )
