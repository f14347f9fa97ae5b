"""The one loop: look, decide, record, act.

Everything it knows is in the store: killed at any point, the next courier goes on where this one was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fan.core.delivery import Action, Sight, step, superseded
from fan.core.limit import ends_at
from fan.core.model import Change, Delivery, Member, Phase, Report, State, Status, Step
from fan.core.ours import told_apart
from fan.core.recipe import Recipe
from fan.core.resuming import told
from fan.core.standing import due, releases
from fan.core.stillness import Stillness, observe, settled, settles_at
from fan.courier.alerting import Alerting
from fan.courier.pace import IDLE, TOGETHER, pace
from fan.courier.requests import Requests
from fan.courier.seeing import Seen, last_words, see
from fan.courier.typing import buffer_name, perform
from fan.courier.waking import Waker
from fan.world import bells
from fan.world.tmux import Tmux
from fan.world.world import World

STEPS = 8
EXIT_PATIENCE = 2.0
PASSING = frozenset({Phase.WAITING, Phase.LOADED, Phase.ECHO, Phase.PROVING})


class Courier:
    """Looks at the members of one store through one tmux connection, and types what is pending.

    `on_ready` is told a member right before something is typed to it.
    """

    def __init__(self, world: World, tmux: Tmux, on_ready: Callable[[Member], None] = lambda _member: None) -> None:
        self._world = world
        self._tmux = tmux
        self._store = world.store
        self._on_ready = on_ready
        self._still: dict[str, Stillness] = {}
        self._due: dict[str, float] = {}
        self._changes = self._store.last_changes()
        self._seen: dict[str, Seen] = {}
        self._version = (-1, -1)
        self._members: list[Member] = []
        self._queue: list[Delivery] = []
        self._reports: dict[str, Report] = {}
        self._waker = Waker(world)
        self._alerting = Alerting(world, tmux)
        self._requests = Requests(world)

    def tick(self) -> float:
        """Look at those that are due and do what follows; seconds until the next one is due."""
        now = self._world.clock.now()
        self._read_record()
        self._requests.answer(self._members)
        due = [member for member in self._members if self._due.get(member.id, 0.0) <= now + TOGETHER]
        if due:
            seen = see(self._tmux, self._world.catalogue, due, self._reports, now, self._seen)
            self._seen |= seen
            for one in seen.values():
                self._member(one, [own for own in self._queue if own.member == one.member.id], now)
            self._release(self._members, seen)
        self._alerting.look(self._members, self._changes, now)
        self._due = {member.id: self._due.get(member.id, now) for member in self._members}
        return max(min([*self._due.values(), now + IDLE]) - self._world.clock.now(), 0.0)

    def wake(self) -> None:
        """Something was reported or queued: everybody is due."""
        self._due.clear()

    def _read_record(self) -> None:
        """Anew only where something has been written: it costs more than looking at agents that rest."""
        version = self._store.version()
        if version == self._version:
            return
        self._version = version
        self._members = [one for one in self._store.members() if one.step is Step.READY and one.agent]
        self._queue = self._store.open_deliveries()
        self._reports = self._store.last_reports(self._members)
        self._seen = {one.id: self._seen[one.id] for one in self._members if one.id in self._seen}
        self._waker.read_record(self._members)

    def _member(self, seen: Seen, queue: Sequence[Delivery], begun: float) -> None:
        """Note what one member's agent does, and bring its deliveries forward."""
        at = seen.look.at if seen.look else self._world.clock.now()
        self._still[seen.member.id] = observe(self._still.get(seen.member.id), seen.reading.still, at)
        self._note_change(seen, at)
        pending = due(queue) or self._waker.look(seen, queue, at)
        watched = [one for one in queue if one.status is not Status.PENDING]
        for one in watched:
            if pending and pending.phase is not Phase.WAITING:
                self._record(one, superseded(one))
            else:
                self._advance(seen, one)
        if pending:
            pending, seen = self._advance(seen, pending)
            pending = pending if pending.status is Status.PENDING else None
        settled_in = settles_at(self._still[seen.member.id]) - self._world.clock.now()
        wait = pace(seen.reading, pending, watched=bool(watched), held=seen.member.hold, settled_in=settled_in)
        # Those that rest keep one beat, so that one look serves them all.
        self._due[seen.member.id] = (begun if wait >= IDLE else self._world.clock.now()) + wait

    def _advance(self, seen: Seen, delivery: Delivery) -> tuple[Delivery, Seen]:
        """Step a delivery until it waits for the next look; record before acting, look again after."""
        for _ in range(STEPS):
            recipe = seen.recipe
            if recipe is None:
                break
            wanted = self._waker.withdrawn(seen, delivery, self._world.clock.now())
            stepped, action = step(wanted, self._sight(seen, wanted, recipe), recipe.submit)
            if not self._record(delivery, stepped):
                break
            delivery = stepped
            if action is Action.NOTHING or seen.pane is None:
                break
            if action is Action.LOAD:
                self._on_ready(seen.member)
            now = self._world.clock.now()
            acted = perform(self._tmux, seen.pane.id, delivery, action, recipe.submit, now)
            self._record(delivery, acted)
            delivery = acted
            if acted.phase is Phase.WAITING:
                break
            seen = self._again(seen)
        return delivery, seen

    def _again(self, seen: Seen) -> Seen:
        """A fresh look at one member, right before or after keys."""
        now = self._world.clock.now()
        reports = self._store.last_reports([seen.member])
        fresh = see(self._tmux, self._world.catalogue, [seen.member], reports, now)[seen.member.id]
        self._still[seen.member.id] = observe(self._still.get(seen.member.id), fresh.reading.still, now)
        return fresh

    def _sight(self, seen: Seen, delivery: Delivery, recipe: Recipe) -> Sight:
        now = seen.look.at if seen.look else self._world.clock.now()
        key = recipe.hooks.prompt if recipe.hooks else ""
        reports = self._store.reports_since(seen.member, delivery.report_seq) if recipe.hooks else []
        took = tuple(prompt for one in reports if (prompt := told(one, key)))
        pressed = delivery.pressed_at
        worked = [one for one in reports if one.state is State.WORKING and pressed is not None and one.at >= pressed]
        needs_buffer = delivery.phase in (Phase.LOADED, Phase.PASTING)
        return Sight(
            reading=told_apart(seen.reading, self._others(delivery), recipe.submit),
            at=now,
            settled=seen.member.id in self._still and settled(self._still[seen.member.id], now),
            gone=seen.pane is None and seen.reading.state is State.EXITED,
            took=took,
            # Where hooks name the prompt, work on another one (a background task's) is no evidence.
            stirred=bool(worked) and not (recipe.hooks and recipe.hooks.prompt),
            seq=reports[-1].seq if reports else delivery.report_seq,
            buffer=needs_buffer and buffer_name(delivery) in self._tmux.buffers(),
            limit_over=self._limit_over(seen, now),
            exit_told=self._exit_told(seen, now),
            last_words=last_words(seen.look) if seen.pane and seen.pane.dead else "",
        )

    def _others(self, delivery: Delivery) -> list[Delivery]:
        return [one for one in self._queue if one.member == delivery.member and one.id != delivery.id]

    def _exit_told(self, seen: Seen, now: float) -> bool:
        """Whether the exit code is known, or will not be: tmux 3.3a may show a pane dead before it has the code."""
        if seen.pane is None or not seen.pane.dead or seen.pane.exit_status is not None:
            return True
        change = self._changes.get(seen.member.id)
        return change is None or now - change.since > EXIT_PATIENCE

    def _limit_over(self, seen: Seen, now: float) -> bool:
        """Whether the end of the limit, as the agent told it when it began, has passed."""
        change = self._changes.get(seen.member.id)
        if seen.reading.state is not State.LIMITED or change is None:
            return False
        end = ends_at(change.detail, self._world.clock.local(change.since))
        return end is not None and self._world.clock.local(now) > end

    def _record(self, before: Delivery, after: Delivery) -> bool:
        """Put the delivery on record; False when somebody else has changed it meanwhile, and nothing may follow."""
        # A power cut takes the tmux server along: what was not typed yet, or was but in its composer, begins anew.
        durable = after.phase not in PASSING
        if after != before and not self._store.save_delivery(after, was=before, durable=durable):
            return False
        if after.status is not before.status:
            bells.ring(self._world.paths.runtime, [bells.of_member(after.member)])
        if before.phase is Phase.LOADED and after.phase not in (Phase.LOADED, Phase.PASTING):
            self._tmux.drop_buffer(buffer_name(before))
        return True

    def _note_change(self, seen: Seen, at: float) -> None:
        """Keep the history of states, and ring whoever waits for this member."""
        reading, last = seen.reading, self._changes.get(seen.member.id)
        if last and (last.state, last.kind) == (reading.state, reading.kind):
            return
        change = Change(seen.member.id, reading.state, reading.kind, reading.detail, reading.decided_by, at)
        self._store.add_change(change)
        bells.ring(self._world.paths.runtime, [bells.of_member(change.member)])
        self._changes[seen.member.id] = change

    def _release(self, members: Sequence[Member], seen: dict[str, Seen]) -> None:
        """Start the agents that were held until the first one's trust question was answered."""
        for group, asker in {(member.group, self._asker(member)) for member in members if member.hold}:
            those = [member for member in members if (member.group, self._asker(member)) == (group, asker)]
            standings = [(member.hold, *self._standing(member, seen)) for member in those]
            for index in releases(standings):
                self._start(those[index])

    def _asker(self, member: Member) -> str:
        recipe = self._seen[member.id].recipe if member.id in self._seen else None
        return recipe.asker(member.variant) if recipe else member.agent

    def _standing(self, member: Member, seen: dict[str, Seen]) -> tuple[State, str]:
        if member.id in seen:
            return seen[member.id].reading.state, seen[member.id].reading.kind
        change = self._changes.get(member.id)
        return (change.state, change.kind) if change else (State.STARTING, "")

    def _start(self, member: Member) -> None:
        if self._tmux.release(self._world.paths.hold(member.id)):
            self._store.update_member(member.id, hold=False, launched_at=self._world.clock.now())
            self._due.pop(member.id, None)
