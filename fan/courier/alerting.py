"""Alerts in the person's inbox, and what tells them of it: a badge, a bell, a desktop notice."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from fan.core.alerts import Alert, Standing, judge
from fan.core.mail import HUMAN, Message, MessageKind
from fan.core.model import Change, Member
from fan.core.naming import new_id
from fan.courier.notifying import Notifier
from fan.world import bells
from fan.world.tmux import Tmux
from fan.world.world import World

OURSELVES = "fan"
ROOM = "alerts"
"""A ring of their own: however many come up, no mail to the person goes for them."""


class Alerting:
    """Keeps the person's inbox true. What it is shown costs one question to the store while nothing is written."""

    def __init__(self, world: World, tmux: Tmux) -> None:
        self._world = world
        self._store = world.store
        self._tmux = tmux
        self._notifier = Notifier(world, tmux)
        self._version = (-1, -1)
        self._again: float | None = None
        self._badge: int | None = None
        self._newest = max((one.seq for one in self._store.waiting(HUMAN)), default=0)

    def look(self, members: Sequence[Member], changes: Mapping[str, Change], now: float) -> None:
        """Open and close alerts by what is noted of these members, who are all that there are; tell the person."""
        version = self._store.version()
        if version == self._version and (self._again is None or now < self._again):
            return
        self._version = version
        items = self._store.waiting(HUMAN)
        shown = [one for one in items if one.kind is MessageKind.ALERT]
        verdict = judge(self._standings(members, changes), shown, now)
        self._again = verdict.again
        if verdict.to_open:
            self._store.post([_message(alert, now) for alert in verdict.to_open], charge=False)
        if verdict.to_close:
            self._store.mark(verdict.to_close, "closed", now)
        if verdict.to_open or verdict.to_close:
            bells.ring(self._world.paths.runtime, [bells.of_inbox(HUMAN)])
            items = self._store.waiting(HUMAN)
        self._show(len(items))
        self._tell([one for one in items if one.seq > self._newest], verdict.to_open)

    def _standings(self, members: Sequence[Member], changes: Mapping[str, Change]) -> list[Standing]:
        stems = {group.id: group.stem for group in self._store.groups()}
        last = self._store.last_deliveries()
        return [
            Standing(one, f"{stems.get(one.group, '?')}:{one.n} ({one.agent})", changes.get(one.id), last.get(one.id))
            for one in members
        ]

    def _show(self, count: int) -> None:
        """The badge of the status line, where it is another one than before."""
        if count != self._badge:
            self._tmux.badge(count)
            self._badge = count

    def _tell(self, new: Sequence[Message], opened: Sequence[Alert]) -> None:
        """Only for what is new; nobody's words are among these."""
        if new:
            self._newest = new[-1].seq
            mail = [f"{one.kind} from {one.author}" for one in new if one.kind is not MessageKind.ALERT]
            self._notifier.tell([*(alert.what for alert in opened), *mail])


def _message(alert: Alert, now: float) -> Message:
    return Message(
        seq=0,
        id=new_id(random.SystemRandom().choice),
        room=ROOM,
        inbox=HUMAN,
        recipient=HUMAN,
        sender=OURSELVES,
        author=OURSELVES,
        verified="process",
        thread="",
        body=alert.text,
        at=now,
        kind=MessageKind.ALERT,
        key=alert.key,
        about=alert.member,
    )
