"""Agents at rest with unread mail get one line that says so, on the way that every prompt takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fan.core import delivery as rules
from fan.core import waking
from fan.core.mail import Message
from fan.core.model import Delivery, Member, Phase, Purpose, Status
from fan.courier.seeing import Seen
from fan.world.world import World


class Waker:
    """What is unread, as the record has it; looked at whenever an agent is."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._unread: dict[str, list[Message]] = {}
        self._last: dict[str, Delivery] = {}

    def read_record(self, members: Iterable[Member]) -> None:
        """What there is to tell these; called after something has been written."""
        store = self._world.store
        self._unread = store.unread_by_inbox(one.address for one in members)
        self._last = store.last_wakes() if self._unread else {}

    def look(self, seen: Seen, queue: Sequence[Delivery], now: float) -> Delivery | None:
        """Queue the line for this agent, where it is due; nothing goes before or between what is pending."""
        settings, unread = self._world.settings.values, self._unread.get(seen.member.address, [])
        if not (settings.wake and unread) or any(one.status is Status.PENDING for one in queue):
            return None
        if not waking.may_be_told(seen.reading.state, seen.reading.kind):
            return None
        text = waking.line(unread, self._last.get(seen.member.id), now, settings.wake_every)
        if not text:
            return None
        queued = self._world.store.add_delivery(
            Delivery(0, seen.member.id, text, now, purpose=Purpose.WAKE, patience=settings.patience)
        )
        self._last[seen.member.id] = queued
        return queued

    def withdrawn(self, seen: Seen, delivery: Delivery, now: float) -> Delivery:
        """The line as it stands: given up when all mail was read before it was typed."""
        is_idle = delivery.purpose is Purpose.WAKE and delivery.phase is Phase.WAITING
        if is_idle and not self._unread.get(seen.member.address):
            return rules.failed(delivery, waking.READ, now)
        return delivery
