"""Questions whose asker waits no more: what has not been typed by then is not typed later, and what is answered later
is put on record."""

from __future__ import annotations

from fan.core import delivery as rules
from fan.core.asks import Ask, answer, late, late_words
from fan.core.mail import Message
from fan.core.model import Delivery, Member, Phase, State, Status, Typed
from fan.core.standing import is_over
from fan.courier.answering import LATE, can_be_found, final
from fan.courier.seeing import see
from fan.errors import FanError, NotFound
from fan.world import bells
from fan.world.ids import new_id
from fan.world.world import World

UNTOUCHED = (Phase.WAITING, Phase.LOADED)


def take_back(world: World, number: int, why: str) -> bool:
    """Give a question up if nothing of it has been typed; whether it was."""
    while True:
        delivery = world.store.delivery(number)
        if not _is_untouched(delivery):
            return False
        if world.store.save_delivery(rules.failed(delivery, why, world.clock.now()), was=delivery):
            return True


def settle_abandoned(world: World) -> None:
    """Bring what askers have left to an end: taken back, answered, or closed without an answer."""
    asks = world.store.asks()
    if not asks:
        return
    from fan.world import processes

    for ask in asks:
        if not processes.alive(ask.pid, ask.pid_started):
            _settle(world, ask)


def _settle(world: World, ask: Ask) -> None:
    """As far as it can be told now; what cannot be is looked at again."""
    if not ask.delivery or take_back(world, ask.delivery, "its asker is gone"):
        _close(world, ask)
        return
    delivery = world.store.delivery(ask.delivery)
    if delivery.status is Status.SENT:
        _find_answer(world, ask, delivery)
    elif delivery.phase is Phase.DONE:
        _close(world, ask)


def _find_answer(world: World, ask: Ask, delivery: Delivery) -> None:
    """Once the turn has been over for as long as an agent takes to write down what it has said."""
    member, now = world.store.member(ask.target), world.clock.now()
    change = world.store.last_changes().get(member.id)
    sent = delivery.done_at or delivery.created_at
    is_gone = member.removed_at is not None or (member.launched_at or 0.0) > sent
    if not is_gone:
        if change is None or not is_over(delivery, change.state, change.kind):
            return
        if now - max(change.since, sent) < LATE:
            return
        seen = see(world.tmux, world.catalogue, [member], world.store.last_reports([member]), now)[member.id].reading
        if not is_over(delivery, seen.state, seen.kind, seen.background):
            return
        is_gone = seen.state is State.EXITED
    text = _words(world, member, delivery, is_gone=is_gone)
    if text:
        _record(world, ask, text)
    else:
        _close(world, ask)


def _words(world: World, member: Member, delivery: Delivery, *, is_gone: bool) -> str:
    """What its transcript has as the answer; empty if nothing."""
    try:
        recipe = world.catalogue.recipe(member.agent)
    except FanError:
        return ""  # what wrote it down cannot be told any more
    return late_words(final(world, member, recipe, delivery) if can_be_found(recipe) else None, is_gone=is_gone)


def _record(world: World, ask: Ask, text: str) -> None:
    """The answer, as mail to whoever asked; before the ask goes, so that a crash costs no answer."""
    question = _question(world, ask)
    if question and question.answered_at is None:
        message = late(answer(question, text, new_id(), world.clock.now()))
        world.store.post([message], charge=False)
        bells.ring(world.paths.runtime, [bells.of_inbox(message.inbox)])
    world.store.end_ask(ask.id)


def _close(world: World, ask: Ask) -> None:
    world.store.mark([ask.id], "closed", world.clock.now())
    world.store.end_ask(ask.id)


def _question(world: World, ask: Ask) -> Message | None:
    try:
        return world.store.message(ask.id)
    except NotFound:
        return None  # its room was full, and an answer would belong to nothing


def _is_untouched(delivery: Delivery) -> bool:
    return delivery.status is Status.PENDING and delivery.typed is Typed.NO and delivery.phase in UNTOUCHED
