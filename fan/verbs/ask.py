"""`fan ask`: a question to a member's agent, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from fan.core.asks import Ask, told
from fan.core.defaults import ASK_SECONDS
from fan.core.mail import HUMAN
from fan.core.model import Delivery, Look, Phase, Purpose, State, Status, Step, Typed
from fan.core.reading import COPY_MODE, DRAFT, LEFT
from fan.core.standing import is_over, no_session
from fan.courier import start as courier
from fan.courier.answering import baseline, can_be_found, words
from fan.courier.asking import take_back
from fan.errors import Blocked, Cycle, FanError, NoKeyboard, NotReady, TargetGone, TimedOut
from fan.verbs.exchange import record_answer, record_question
from fan.verbs.mail import name_of
from fan.verbs.send import composed
from fan.verbs.target import Known, find, here, known, not_caller
from fan.verbs.watching import Standing, Watch
from fan.world import processes
from fan.world.ids import new_id
from fan.world.world import World

READY_WITHIN = 30.0
LOOK_EVERY = 1.0
QUIET = 2.0
QUIET_EVERY = 0.25
LATE_PROOF = 15.0
"""Seconds that evidence of a question being taken may come late."""
SAID_BY_SILENCE = "quiet"


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question to a member; seconds for its answer, and for its agent to be ready for the question."""

    target: str
    text: str
    timeout: float = ASK_SECONDS
    ready: float = READY_WITHIN


@dataclass(frozen=True, slots=True)
class Answer:
    """An agent's words. `settled_by` says what told that its turn was over, `quality` how whole they are.

    `message_id` is the question's, in whose thread both are on record.
    """

    member: str
    name: str
    answer: str
    settled_by: str
    quality: str
    message_id: str
    untrusted: bool = True


def ask(world: World, request: AskRequest) -> Answer:
    """Type a question once the agent rests, behind what is pending, and wait for its turn to end.

    Raises NoKeyboard, OwnChat, Cycle, Blocked, NotReady and Empty with nothing typed; TargetGone at once when the
    agent, its session or the server goes; TimedOut when no answer came in time. What was not typed by then never is;
    what is answered later the courier puts on record.
    """
    one = _target(world, request.target)
    delivery = replace(composed(world, one, request.text, patience=request.timeout), purpose=Purpose.ASK)
    with _in_flight(world, one) as asked, Watch(world, [one]) as watch:
        before = baseline(world, _ready(world, watch, request).seen)
        delivery = world.store.queue_ask(asked, delivery)
        try:
            question = record_question(world, one, request.text, asked.id)
            courier.wake(world)
            end, settled_by = _Turn(world, watch, delivery, request, asked.id).end()
        finally:
            if take_back(world, delivery.id, "its asker waits no more"):
                world.store.mark([asked.id], "closed", world.clock.now())
                world.store.end_ask(asked.id)
        sent = world.store.delivery(delivery.id)
        text, quality = words(world, end.seen, sent, before, guessed=settled_by == SAID_BY_SILENCE)
        record_answer(world, question, text)
        world.store.end_ask(asked.id)
    return Answer(one.member.id, name_of(one), text, settled_by, quality, question.id)


def _target(world: World, text: str) -> Known:
    if text == HUMAN:
        raise NoKeyboard(
            "nobody can type to the person", not_done="nothing was asked", hint="fan mail ask-human 'question'"
        )
    one = not_caller(world, find(known(world), text, here(world)), "nothing was asked")
    if not one.member.agent or one.member.step is Step.FAILED:
        why = no_session(one.member)
        raise TargetGone(f"{one.name} cannot be asked: {why}", not_done="nothing was asked", hint="fan ls")
    return one


@contextmanager
def _in_flight(world: World, one: Known) -> Iterator[Ask]:
    """The ask on record, as one that waits as long as we do. Raises Cycle."""
    own, caller = processes.own(), world.caller
    asker = caller.member.id if caller.member else caller.who.value
    asked = Ask(new_id(), asker, one.member.id, 0, own.pid, own.started, world.clock.now())
    if way := world.store.begin_ask(asked, processes.alive):
        names = {each.member.id: each.name for each in known(world)}
        raise Cycle(
            f"{one.name} would never answer: {told(way, names)}",
            not_done="nothing was typed",
            hint=f"fan mail send {one.member.id} 'text'",
        )
    try:
        yield asked
    finally:
        world.store.leave_ask(asked.id)


def _ready(world: World, watch: Watch, request: AskRequest) -> Standing:
    """The member once something may be typed to it. Raises Blocked, NotReady, TargetGone."""
    until = world.clock.now() + request.ready
    while True:
        (standing,) = watch.look()
        reading, name = standing.seen.reading, standing.one.name
        if standing.gone:
            raise _gone(standing, "nothing was typed")
        if reading.is_dialog:
            raise Blocked(
                f"{name} cannot be asked: {reading.obstacle}",
                not_done="nothing was typed",
                hint=f"fan attach {standing.one.member.id}",
            )
        if not reading.obstacle:
            return standing
        if world.clock.now() >= until:
            raise _not_now(standing, request.ready)
        watch.wait(min(LOOK_EVERY, max(until - world.clock.now(), 0.0)))


def _not_now(standing: Standing, seconds: float) -> Blocked | NotReady:
    """For a draft, copy mode or a prompt that was left there nobody has to wait: they stay until somebody comes."""
    reading, name, id_ = standing.seen.reading, standing.one.name, standing.one.member.id
    if reading.obstacle in (COPY_MODE, DRAFT, LEFT):
        clears = f"fan send --retry {id_}" if reading.obstacle == LEFT else f"fan attach {id_}"
        why = f"{name} cannot be asked: for {seconds:g} s {reading.obstacle}"
        return Blocked(why, not_done="nothing was typed", hint=clears)
    return NotReady(
        f"{name} was not at rest within {seconds:g} s: {reading.obstacle}",
        not_done="nothing was typed",
        hint=f"fan wait idle {id_}",
    )


class _Turn:
    """One question's turn, from the queue to its end."""

    def __init__(self, world: World, watch: Watch, delivery: Delivery, request: AskRequest, question: str) -> None:
        self._world = world
        self._watch = watch
        self._number = delivery.id
        self._question = question
        self._timeout = request.timeout
        self._until = world.clock.now() + request.timeout
        self._screen: Look | None = None
        self._quiet_since = 0.0

    def end(self) -> tuple[Standing, str]:
        """The member at the end of the turn, and what told that it ended. Raises TargetGone, TimedOut, NotReady."""
        while True:
            (standing,) = self._watch.look()
            delivery = self._world.store.delivery(self._number)
            if standing.gone:
                raise _gone(standing, _left(delivery))
            if delivery.status is Status.NOT_SENT:
                self._refuse_if_final(standing, delivery)
            if settled_by := self._settled_by(standing, delivery):
                return standing, settled_by
            if self._world.clock.now() >= self._until:
                raise self._too_late(standing, delivery)
            self._watch.wait(min(self._pause(standing, delivery), max(self._until - self._world.clock.now(), 0.0)))

    def _settled_by(self, standing: Standing, delivery: Delivery) -> str:
        """What tells that the turn is over; empty while it is not."""
        if delivery.status is not Status.SENT:
            return ""
        reading = standing.seen.reading
        if _is_over(standing, delivery) and standing.steady:
            return reading.decided_by.value
        later = next((one for one in self._later(standing) if one.pasted_at is not None), None)
        if later:
            return later.ready_by
        return SAID_BY_SILENCE if self._is_quiet(standing) else ""

    def _later(self, standing: Standing) -> list[Delivery]:
        """Prompts behind ours: nothing is typed before a turn is over."""
        return [one for one in self._world.store.deliveries(standing.one.member.id) if one.id > self._number]

    def _is_quiet(self, standing: Standing) -> bool:
        """Where nothing can prove rest, a screen that stands still and shows no work is taken for the end."""
        seen, now = standing.seen, self._world.clock.now()
        if seen.recipe is None or seen.recipe.proof.rest or seen.look is None:
            return False
        same = self._screen is not None and self._screen.lines == seen.look.lines
        if not same or seen.reading.state not in (State.UNKNOWN, State.STARTING):
            self._screen, self._quiet_since = seen.look, now
        return now - self._quiet_since >= QUIET

    def _pause(self, standing: Standing, delivery: Delivery) -> float:
        """When to look again though nothing happens: silence and late proof tell themselves by time alone."""
        if delivery.status is not Status.SENT:
            return LOOK_EVERY
        recipe = standing.seen.recipe
        return QUIET_EVERY if recipe and not recipe.proof.rest else self._timeout

    def _refuse_if_final(self, standing: Standing, delivery: Delivery) -> None:
        waited = self._world.clock.now() - (delivery.done_at or delivery.created_at)
        if delivery.phase is not Phase.DONE and waited < LATE_PROOF:
            return
        name, hint = standing.one.name, f"fan why {standing.one.member.id}"
        if delivery.typed is Typed.NO:
            raise NotReady(f"{name} was not asked: {delivery.note}", not_done="nothing was typed", hint=hint)
        raise FanError(
            f"{name} shows no sign of having taken the question: {delivery.note}",
            not_done="its answer is not waited for; the question was typed",
            hint=hint,
        )

    def _too_late(self, standing: Standing, delivery: Delivery) -> TimedOut:
        name, reading = standing.one.name, standing.seen.reading
        doing = reading.obstacle or reading.background or reading.state.value
        if delivery.status is Status.SENT:
            later, hint = self._later_on(standing)
            return TimedOut(
                f"{name} has not answered within {self._timeout:g} s: {doing}",
                not_done=f"only the answer is missing; the question was sent, and must not be asked again; {later}",
                hint=hint,
            )
        is_typed = delivery.typed is not Typed.NO
        what = "shows no sign of having taken the question" if is_typed else "was not asked"
        why = delivery.note or ("it had only just been typed" if is_typed else doing)
        return TimedOut(
            f"{name} {what} within {self._timeout:g} s: {why}",
            not_done=_left(delivery),
            hint=f"fan wait idle {standing.one.member.id}",
        )

    def _later_on(self, standing: Standing) -> tuple[str, str]:
        """What becomes of an answer that comes now, and the command that reads it."""
        recipe, who = standing.seen.recipe, standing.one.member.id
        if recipe is None or not (can_be_found(recipe) and recipe.proof.rest):
            return "a later answer stands in its pane alone", f"fan attach {who}"
        caller = self._world.caller
        where = "is put on record" if caller.is_agent and not caller.member else "comes to your inbox"
        return f"a later answer {where}", f"fan mail read --thread {self._question}"


def _is_over(standing: Standing, delivery: Delivery) -> bool:
    reading = standing.seen.reading
    return is_over(delivery, reading.state, reading.kind, reading.background)


def _gone(standing: Standing, left: str) -> TargetGone:
    return TargetGone(
        f"{standing.one.name} went away: {standing.gone}", not_done=left, hint=f"fan resume {standing.one.member.id}"
    )


def _left(delivery: Delivery) -> str:
    """What became of the question."""
    if delivery.status is Status.SENT:
        return "there is no answer; the question was sent"
    if delivery.typed is Typed.NO:
        return "nothing was typed, and the question was taken back"
    return "there is no answer; the question was typed, and it is not known whether it was taken"
