"""Alerts in the person's inbox, and what tells them of it: a badge, a bell, a desktop notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fan.core.alerts import Alert, Standing, judge, orphaned
from fan.core.mail import HUMAN, Message, MessageKind
from fan.core.model import Change, Member, State, Step, Witness
from fan.courier import start as courier
from fan.courier.notifying import Notifier
from fan.errors import TmuxFailed
from fan.world import bells
from fan.world.ids import new_id
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
        over = [*verdict.to_close, *self._orphaned(items, changes)]
        self._again = verdict.again
        if verdict.to_open:
            self._store.post([_message(alert, now) for alert in verdict.to_open], charge=False)
        if over:
            self._store.mark(over, "closed", now)
        if verdict.to_open or over:
            bells.ring(self._world.paths.runtime, [bells.of_inbox(HUMAN)])
            items = self._store.waiting(HUMAN)
        self._show(len(items))
        self._tell([one for one in items if one.seq > self._newest], verdict.to_open)

    def _orphaned(self, items: Sequence[Message], changes: Mapping[str, Change]) -> Sequence[str]:
        """Questions that nobody waits for, by the members of this moment: one may be younger than our last look."""
        questions = [one for one in items if one.kind is MessageKind.QUESTION]
        return orphaned(questions, self._store.members(), changes) if questions else ()

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


def close_of_gone(world: World) -> None:
    """Close what was asked by agents whose session is gone, for verbs that show the inbox: with the tmux server the
    courier goes too, and another may never be needed."""
    items = [one for one in world.store.waiting(HUMAN) if one.kind in (MessageKind.ALERT, MessageKind.QUESTION)]
    concerned = {one.about for one in items} | {one.sender for one in items}
    ready = [one for one in world.store.members() if one.step is Step.READY and one.agent]
    members = [one for one in ready if not concerned.isdisjoint((one.id, one.address))]
    if not members or courier.running(world):
        return
    try:
        living = {pane.launch for pane in world.tmux.panes()}
    except TmuxFailed:
        return  # a look that failed is evidence of nothing
    now, last = world.clock.now(), world.store.last_deliveries()
    gone = {one.id: one for one in members if one.launch not in living}
    ended = {one: Change(one, State.EXITED, "", "", Witness.PROCESS, now) for one in gone}
    standings = [Standing(one, "", ended[one.id], last.get(one.id)) for one in gone.values()]
    alerts = [one for one in items if one.kind is MessageKind.ALERT and one.about in gone]
    askers = {one.address for one in gone.values()}
    questions = [one for one in items if one.kind is MessageKind.QUESTION and one.sender in askers]
    over = judge(standings, alerts, now).to_close + orphaned(questions, gone.values(), ended)
    if over:
        world.store.mark(over, "closed", now)
        bells.ring(world.paths.runtime, [bells.of_inbox(HUMAN)])


def _message(alert: Alert, now: float) -> Message:
    return Message(
        seq=0,
        id=new_id(),
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
