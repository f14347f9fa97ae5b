"""The numbered events. Triggers write them (connection.py), so that none is forgotten."""

from __future__ import annotations

from fan.core.events import Event
from fan.world.store.door import Door
from fan.world.store.rows import select


class Events(Door):
    """States, deliveries, messages and sessions as they came; the last ten thousand."""

    def events(self, after: int, limit: int) -> list[Event]:
        """At most `limit` of those behind number `after`, the oldest first."""
        with self._read() as db:
            return select(db, Event, "events", "seq > ? ORDER BY seq LIMIT ?", (after, limit))

    def first_event(self) -> int:
        """The oldest one's number; 0 when there is none."""
        with self._read() as db:
            return int(db.execute("SELECT COALESCE(MIN(seq), 0) FROM events").fetchone()[0])

    def last_event(self) -> int:
        """The newest one's number; 0 when there is none."""
        with self._read() as db:
            return int(db.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()[0])

    def stirred(self, after: int) -> tuple[set[str], int]:
        """The members that events behind `after` tell of, and the newest one's number."""
        with self._read() as db:
            rows = db.execute("SELECT seq, member FROM events WHERE seq > ?", (after,)).fetchall()
            return {member for _, member in rows}, max([after, *(seq for seq, _ in rows)])
