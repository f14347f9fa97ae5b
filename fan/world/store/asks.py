"""Asks in flight. A graph on record: who may not wait for whom is decided where it is written."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from fan.core.asks import Ask, cycle
from fan.core.model import Delivery
from fan.world.store.door import Door
from fan.world.store.rows import insert, select


class Asks(Door):
    """Who waits for whose answer."""

    def begin_ask(self, ask: Ask, is_alive: Callable[[int, float], bool]) -> list[str]:
        """Put an ask on record; or, with nothing recorded, the round that it would close. Dead askers do not wait."""
        with self._write() as db:
            waiting = [one for one in select(db, Ask, "asks") if is_alive(one.pid, one.pid_started)]
            way = cycle([(one.asker, one.target) for one in waiting], ask.asker, ask.target)
            if not way:
                insert(db, "asks", ask)
            return way

    def queue_ask(self, ask: Ask, delivery: Delivery) -> Delivery:
        """Queue the text of an ask; the delivery with its number."""
        with self._write() as db:
            queued = replace(delivery, id=insert(db, "deliveries", delivery, without="id"))
            db.execute("UPDATE asks SET delivery = ? WHERE id = ?", (queued.id, ask.id))
            return queued

    def leave_ask(self, ask_id: str) -> None:
        """Its asker waits no more. Where its text was queued the ask stays, for an answer that comes later."""
        with self._write() as db:
            db.execute("DELETE FROM asks WHERE id = ? AND delivery = 0", (ask_id,))
            db.execute("UPDATE asks SET pid = 0 WHERE id = ?", (ask_id,))

    def end_ask(self, ask_id: str) -> None:
        """It is answered, or will not be."""
        with self._write() as db:
            db.execute("DELETE FROM asks WHERE id = ?", (ask_id,))

    def asks(self) -> list[Ask]:
        """All that are on record, of dead askers too, the oldest first."""
        with self._read() as db:
            return select(db, Ask, "asks", "1 ORDER BY at")

    def delivery(self, number: int) -> Delivery:
        """One delivery as it stands."""
        with self._read() as db:
            return select(db, Delivery, "deliveries", "id = ?", (number,))[0]
