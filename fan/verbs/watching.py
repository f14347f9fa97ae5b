"""Waiting for what happens to members: rung by whoever records it, told by the system when a process ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from math import inf
from types import TracebackType
from typing import Self

from msgspec import Struct

from fan.core.model import Change, Delivery, Member, State, Step, Witness
from fan.core.standing import no_session
from fan.core.stillness import STILL, Stillness, observe
from fan.courier import start as courier
from fan.courier.seeing import Seen
from fan.verbs.rows import seen_now
from fan.verbs.target import Known
from fan.world import processes
from fan.world.bells import Bells, of_member
from fan.world.departures import Departures
from fan.world.world import World

SAFETY = 5.0
"""Seconds after which the record is looked at though nobody rang."""
TOLD = 0.2
"""Seconds that what an agent has reported itself must hold; what is seen must hold as long as rest."""
UNRECORDED = 0.3
"""Seconds to the next look at what the record has otherwise: nobody rings for what it thinks is so already."""
BACKGROUND = 1.0
TMUX_KNOWS = 0.7
TMUX_EVERY = 0.05
SERVER = "the tmux server"


class Standing(Struct, frozen=True):
    """A member at one look. `last` is its newest prompt; `steady`: its state has held long enough to be believed.

    `gone` says in words why it is not there any more; empty while it is.
    """

    one: Known
    seen: Seen
    last: Delivery | None
    steady: bool
    gone: str = ""


class Watch:
    """Some members, from when it is entered: what happens between a look and the wait after it is not missed.

    The courier is kept running meanwhile.
    """

    def __init__(self, world: World, members: Sequence[Known]) -> None:
        self._world = world
        self._members = {one.member.id: one for one in members}
        self._still: dict[str, Stillness] = {}
        self._departed: set[str] = set()
        self._open = ExitStack()
        self._checked = world.clock.now()
        self._look_in = inf

    def __enter__(self) -> Self:
        world, members = self._world, [one.member for one in self._members.values()]
        courier.ensure(world)
        self._bells = self._open.enter_context(Bells(world.paths.runtime, [of_member(one.id) for one in members]))
        watched = {one.id: (one.pid, one.pid_started) for one in members if one.pid and one.pid_started}
        server = world.tmux.server_pid()
        if server:
            watched[SERVER] = (server, processes.started(server) or 0.0)
        self._departures = self._open.enter_context(Departures(watched))
        self._after = world.store.last_event()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def wait(self, seconds: float) -> None:
        """Until something has happened to one of them, at most so long, and no longer than what was seen last may
        stand without a ring."""
        until = self._world.clock.now() + min(seconds, self._look_in)
        while (left := until - self._world.clock.now()) > 0:
            self._bells.wait(min(left, SAFETY, self._departures.patience), *self._departures.files)
            if self._has_happened():
                return
            self._keep_courier()

    def look(self) -> list[Standing]:
        """All of them as they are now, in their order."""
        found = self._looked()
        patience = self._world.clock.now() + TMUX_KNOWS
        # tmux hears of an end after the system does, and of its code after that.
        while any(self._is_late(one) for one in found) and self._world.clock.now() < patience:
            self._world.clock.pause(TMUX_EVERY)
            found = self._looked()
        return found

    def _has_happened(self) -> bool:
        gone = self._departures.gone()
        self._departed |= gone
        stirred, self._after = self._world.store.stirred(self._after)
        return bool(gone) or not stirred.isdisjoint(self._members)

    def _keep_courier(self) -> None:
        now = self._world.clock.now()
        if now - self._checked < SAFETY:
            return
        self._checked = now
        running = self._world.store.running()
        if SERVER not in self._departed and not (running and processes.alive(running.pid, running.started)):
            courier.ensure(self._world)

    def _looked(self) -> list[Standing]:
        store, now = self._world.store, self._world.clock.now()
        members = [store.member(one) for one in self._members]
        seen = seen_now(self._world, members)
        last, changes = store.last_deliveries(), store.last_changes()
        self._look_in = min(_look_in(seen[one.id], changes.get(one.id)) for one in members)
        found = [
            Standing(
                one=self._members[member.id],
                seen=seen[member.id],
                last=last.get(member.id),
                steady=self._is_steady(seen[member.id], last.get(member.id), changes.get(member.id), now),
                gone=self._gone(member, seen[member.id]),
            )
            for member in members
        ]
        if any(one.seen.reading.open and not one.steady for one in found):
            self._look_in = TOLD
        return found

    def _is_steady(self, seen: Seen, last: Delivery | None, change: Change | None, now: float) -> bool:
        """By our own looks; or by the courier's, which must have begun after the last prompt was sent."""
        reading = seen.reading
        self._still[seen.member.id] = still = observe(self._still.get(seen.member.id), reading.still, now)
        enough = TOLD if reading.decided_by is Witness.REPORT else STILL
        sent = (last.done_at or 0.0) if last else 0.0
        if change and _is_recorded(seen, change) and change.since >= sent:
            return now - min(change.since, still.since) >= enough
        return now - still.since >= enough

    def _gone(self, member: Member, seen: Seen) -> str:
        before = self._members[member.id].member
        if member.removed_at is not None:
            return "it was removed"
        if member.launch != before.launch:
            return "its agent was started anew"
        if seen.pane and seen.pane.dead:
            return seen.reading.detail
        if member.step is Step.FAILED:
            return no_session(member)
        if SERVER in self._departed or (seen.pane is None and not self._world.tmux.server_pid()):
            return "the tmux server with its session is gone"
        if seen.pane is None and seen.reading.state is State.EXITED:
            return "its session is gone"
        return "its agent has exited" if member.id in self._departed else ""

    def _is_late(self, one: Standing) -> bool:
        """Whether tmux does not show yet what has happened to its process."""
        pane = one.seen.pane
        if pane is None or SERVER in self._departed:
            return False
        return pane.exit_status is None if pane.dead else one.one.member.id in self._departed


def _is_recorded(seen: Seen, change: Change | None) -> bool:
    return change is not None and (change.state, change.kind) == (seen.reading.state, seen.reading.kind)


def _look_in(seen: Seen, change: Change | None) -> float:
    """In how many seconds to look again though nobody rings."""
    if not _is_recorded(seen, change):
        return UNRECORDED
    return BACKGROUND if seen.reading.background else inf
