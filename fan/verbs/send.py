"""`fan send`: words for a member's composer, behind what is queued for it already."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from fan.core import delivery as rules
from fan.core.asks import introduced
from fan.core.brief import briefed, is_due
from fan.core.model import Delivery, Member, Phase, Row, Status, Step, Typed
from fan.core.prompt import echo, pointer, prepare
from fan.core.reading import HELD, LEFT, TYPING, Reading
from fan.core.standing import pending, to_retry
from fan.courier import start as courier
from fan.courier.seeing import Seen
from fan.errors import Blocked, NotAllowed, NotFound, TargetGone, UsageError
from fan.verbs.mail import author
from fan.verbs.rows import rows, seen_now
from fan.verbs.target import Known, find, here, known, not_caller
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
    """The member with its prompt pending, typed as soon as the agent rests; where the person has to answer before,
    `exit_code` is 3."""

    row: Row
    note: str = ""
    exit_code: int = 0


def send(world: World, request: SendRequest) -> Queued:
    """Queue a text, or the last prompt again.

    Raises TargetGone when nobody is there to take it, OwnChat for an agent that would prompt itself.
    """
    if request.retry == (request.text is not None):
        raise UsageError("give a text, or --retry", not_done="nothing was sent", hint="fan send MEMBER 'text'")
    one = not_caller(world, find(known(world), request.target, here(world)), "nothing was sent")
    seen = seen_now(world, [one.member])[one.member.id]
    if one.member.step is not Step.READY or seen.pane is None or seen.pane.dead:
        raise TargetGone(
            f"{one.name} cannot take it: {seen.reading.detail}",
            not_done="nothing was sent",
            hint=f"fan resume {one.member.id}" if one.member.step is Step.READY and one.member.agent else "fan ls",
        )
    note = _retry(world, one.member, seen, request) if request.retry else _queue(world, one, request)
    courier.ensure(world)
    courier.wake(world)
    (row,) = rows(world, [one], git=False)
    reading = seen.reading
    if request.retry and reading.obstacle == LEFT:
        reading = replace(reading, obstacle="")  # it is what stands there that is sent
    waits = f"it waits: {reading.obstacle}{_next(one.member, reading)}" if reading.obstacle else ""
    return Queued(row, "; ".join(part for part in (note, waits) if part), _exit_code(row, reading))


def _next(member: Member, reading: Reading) -> str:
    """The command that clears the way, where only the person can."""
    if not reading.waits_for_person or reading.obstacle == HELD:
        return ""
    return f"; fan send --retry {member.id}" if reading.obstacle == LEFT else f"; fan attach {member.id}"


def _exit_code(row: Row, reading: Reading) -> int:
    if row.prompt_status != Status.PENDING:
        return 1 if row.prompt_status == Status.NOT_SENT else 0
    return 3 if reading.waits_for_person else 0


def composed(
    world: World,
    one: Known,
    text: str,
    *,
    command: bool = False,
    patience: float | None = None,
    brief: bool = False,
) -> Delivery:
    """A text on its way to a member, not queued yet; an agent's begins with a line that says whose it is.

    With `brief` that stands before it.

    Raises Empty, and NotAllowed for an agent's slash command.
    """
    caller = world.caller
    if caller.is_agent and command:
        raise NotAllowed(
            "an agent may not send a slash command", not_done="nothing was sent", hint="fan send MEMBER 'text'"
        )
    recipe = world.catalogue.recipe(one.member.agent)
    if caller.is_agent and text.strip():
        text = introduced(text, author(world, caller), caller.verified.value)
    prepared = prepare(briefed(text) if brief else text, recipe.submit, command=command)
    patience = patience if patience is not None else world.settings.values.patience
    now = world.clock.now()
    typed, guards = prepared.text, "; ".join(prepared.guards)
    if prepared.size > recipe.submit.largest:
        name = f"prompt-{one.member.id}-{int(now * 1000)}.md"
        typed = pointer(files.write_prompt(one.member.path, name, prepared.text))
        guards = f"the prompt ({prepared.size // 1024} KB) is in .fan/{name}"
    return Delivery(0, one.member.id, typed, now, guards=guards, command=command, patience=patience)


def _queue(world: World, one: Known, request: SendRequest) -> str:
    delivery = composed(
        world,
        one,
        request.text or "",
        command=request.command,
        patience=request.patience,
        brief=not request.command and is_due(one.member, world.store.deliveries(one.member.id)),
    )
    world.store.add_delivery(delivery)
    return delivery.guards


def _retry(world: World, member: Member, seen: Seen, request: SendRequest) -> str:
    """What stands in the composer, else the newest prompt that was not sent, as far as that cannot double it."""
    queue, submit = world.store.deliveries(member.id), world.catalogue.recipe(member.agent).submit
    failed = to_retry(queue)
    if not failed:
        raise NotFound(
            "there is nothing to retry: no prompt of its is `not_sent`", not_done="nothing was sent", hint="fan ls"
        )
    if any(one.phase is not Phase.WAITING for one in pending(queue)):
        raise Blocked(f"{TYPING} just now", not_done="nothing was changed", hint="fan ls")
    stands = [one for one in failed if echo(seen.reading.composer, one.text, submit) == "ours"]
    last = (stands or failed)[0]
    retried = rules.retry(last, seen.reading, submit, world.clock.now(), again=request.again)
    if retried is None:
        raise Blocked(
            f"its prompt was typed ({last.note}) and is not in its composer: it may have been taken;"
            " --retry --again types it once more",
            not_done="nothing was typed",
            hint=f"fan why {member.id}",
        )
    if not world.store.save_delivery(retried, was=last):
        raise Blocked("the courier is at this prompt just now", not_done="nothing was changed", hint="fan ls")
    return _what(last, retried)


def _what(last: Delivery, retried: Delivery) -> str:
    """What is done about it."""
    if retried.phase is Phase.ECHO:
        return "only the submit key is pressed"
    return "nothing of it had been typed; now it is" if last.typed is Typed.NO else "it is typed again"
