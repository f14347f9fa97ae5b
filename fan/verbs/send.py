"""`fan send`: words for a member's composer, behind what is queued for it already."""

from __future__ import annotations

from dataclasses import dataclass

from fan.core import delivery as rules
from fan.core.asks import introduced
from fan.core.model import Delivery, Member, Row, Status, Step
from fan.core.prompt import pointer, prepare
from fan.courier import start as courier
from fan.courier.seeing import Seen
from fan.errors import Blocked, NotAllowed, NotFound, OwnChat, TargetGone, UsageError
from fan.verbs.mail import author
from fan.verbs.rows import rows, seen_now
from fan.verbs.target import Known, find, here, known
from fan.world import files
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class SendRequest:
    """A text for a member, or `retry` of its last prompt. `command` sends a slash command as it is."""

    target: str
    text: str | None = None
    command: bool = False
    retry: bool = False
    again: bool = False
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """The member with its prompt pending; the courier types it as soon as the agent rests."""

    row: Row
    note: str = ""

    @property
    def exit_code(self) -> int:
        """0: it is queued."""
        return 0


def send(world: World, request: SendRequest) -> Queued:
    """Queue a text, or the last prompt again.

    Raises TargetGone when nobody is there to take it, OwnChat for an agent that would prompt itself.
    """
    if request.retry == (request.text is not None):
        raise UsageError("give a text, or --retry", not_done="nothing was sent", hint="fan send MEMBER 'text'")
    one = find(known(world), request.target, here(world))
    if world.caller.member and world.caller.member.id == one.member.id:
        raise OwnChat(f"{one.name} is you", not_done="nothing was sent", hint="fan ls")
    seen = seen_now(world, [one.member])[one.member.id]
    if one.member.step is not Step.READY or seen.pane is None or seen.pane.dead:
        raise TargetGone(
            f"{one.name} cannot take it: {one.member.failure or seen.reading.detail}",
            not_done="nothing was sent",
            hint=f"fan resume {one.member.id}" if one.member.step is Step.READY and one.member.agent else "fan ls",
        )
    note = _retry(world, one.member, seen, request) if request.retry else _queue(world, one, request)
    courier.ensure(world)
    courier.wake(world)
    (row,) = rows(world, [one], git=False)
    waits = f"it waits: {seen.reading.obstacle}" if seen.reading.obstacle else ""
    return Queued(row, "; ".join(part for part in (note, waits) if part))


def composed(
    world: World, one: Known, text: str, *, command: bool = False, patience: float | None = None
) -> Delivery:
    """A text on its way to a member, not queued yet; an agent's begins with a line that says whose it is.

    Raises Empty, and NotAllowed for an agent's slash command.
    """
    caller = world.caller
    if caller.is_agent and command:
        raise NotAllowed("an agent may not send a slash command", not_done="nothing was sent", hint="leave --command")
    recipe = world.catalogue.recipe(one.member.agent)
    if caller.is_agent and text.strip():
        text = introduced(text, author(world, caller), caller.verified.value)
    prepared = prepare(text, recipe.submit, command=command)
    patience = patience if patience is not None else world.settings.values.patience
    now = world.clock.now()
    typed, guards = prepared.text, "; ".join(prepared.guards)
    if prepared.size > recipe.submit.largest:
        name = f"prompt-{one.member.id}-{int(now * 1000)}.md"
        typed = pointer(files.write_prompt(one.member.path, name, prepared.text))
        guards = f"the prompt ({prepared.size // 1024} KB) is in .fan/{name}"
    return Delivery(0, one.member.id, typed, now, guards=guards, command=command, patience=patience)


def _queue(world: World, one: Known, request: SendRequest) -> str:
    delivery = composed(world, one, request.text or "", command=request.command, patience=request.patience)
    world.store.add_delivery(delivery)
    return delivery.guards


def _retry(world: World, member: Member, seen: Seen, request: SendRequest) -> str:
    """The last prompt that was not sent, again, as far as that cannot double it."""
    last = world.store.last_deliveries().get(member.id)
    if last is None or last.status is not Status.NOT_SENT:
        status = last.status.value if last else "none"
        raise NotFound(
            f"there is nothing to retry: its last prompt is {status}", not_done="nothing was sent", hint="fan ls"
        )
    submit = world.catalogue.recipe(member.agent).submit
    retried = rules.retry(last, seen.reading, submit, world.clock.now(), again=request.again)
    if retried is None:
        raise Blocked(
            f"its last prompt was typed ({last.note}) and is not in its composer: it may have been taken",
            not_done="nothing was typed",
            hint=f"fan why {member.id}; fan send --retry --again {member.id} types it once more",
        )
    if not world.store.save_delivery(retried, was=last):
        raise Blocked("the courier is at this prompt just now", not_done="nothing was changed", hint="fan ls")
    return "only the submit key is pressed" if retried.phase == "echo" else "it is typed again"
