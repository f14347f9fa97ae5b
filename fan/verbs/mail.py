"""`fan mail send` and `reply`: a note for a member, for all of a group, or for the person."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from fan.core.caller import Act, Caller, Who
from fan.core.mail import HUMAN, Attachment, Message, MessageKind, names_person
from fan.core.naming import new_id
from fan.core.questions import meant
from fan.courier import start as courier
from fan.errors import NotFound, OwnChat, Undeliverable
from fan.verbs.removing import Left
from fan.verbs.target import Known, find, find_group, here, known, removed
from fan.world import bells
from fan.world.store.mailbox import Posted
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class MailRequest:
    """A text to a member, a group or `human`; or, with `reply_to` alone, to who wrote that message.

    `attach` are paths, `claim` is who the sender says it is; the same `key` sends once.
    """

    to: str
    text: str
    subject: str = ""
    reply_to: str = ""
    attach: tuple[str, ...] = ()
    key: str = ""
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One stored message. `repeated`: the key was known, this is the message it had sent."""

    id: str
    thread: str
    to: str
    stored: float
    repeated: bool = False
    reply_to_missing: bool = False


@dataclass(frozen=True, slots=True)
class Mailed:
    """What was stored, what could not be and why, and how many older messages went to make room."""

    sent: list[Receipt] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    evicted: int = 0

    @property
    def exit_code(self) -> int:
        """0 all were stored, 5 some."""
        return 5 if self.left else 0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a message goes: the inbox, its owner's name, and the room it lies in."""

    inbox: str
    name: str
    room: str
    member: str = ""


PERSON = Address(HUMAN, HUMAN, HUMAN)
EVERYBODY = ":all"
"""After a group's name: all of its members. The name alone is its first member's branch."""


def mail(world: World, request: MailRequest) -> Mailed:
    """Store a message durably, then tell whoever waits for it.

    Raises NotFound, Ambiguous, Undeliverable, OwnChat, Empty, TooLarge, RateLimited; nothing is then stored.
    """
    caller = world.caller
    if caller.is_agent and names_person(request.claim):
        world.allow(Act.HUMAN_NAME)
    to, left = _addresses(world, request.to)
    first = Message(
        seq=0,
        id=new_message_id(),
        room=to[0].room,
        inbox=to[0].inbox,
        recipient=to[0].name,
        sender=caller.address,
        author=author(world, caller),
        verified=caller.verified.value,
        thread="",
        body=request.text,
        at=world.clock.now(),
        claim=request.claim,
        subject=request.subject,
        reply_to=request.reply_to,
        key=request.key,
        about=caller.member.id if caller.member else "",
        attachments=attached(world, request.attach, to[0].room),
    )
    stored = post(world, [first, *(_copy(first, one) for one in to[1:])])
    receipts = [
        Receipt(
            one.message.id,
            one.message.thread,
            one.message.recipient,
            one.message.at,
            one.repeated,
            one.message.reply_to_missing,
        )
        for one in stored
    ]
    return Mailed(receipts, left, sum(one.evicted for one in stored))


def reply(world: World, message_id: str, text: str, attach: tuple[str, ...] = (), key: str = "") -> Mailed:
    """Answer a message: to who wrote it, or, where we wrote it, to whom it went. A question is answered by the words
    or the number of an option, or freely; one whose asker is gone closes.
    """
    parent = world.store.message(message_id)
    mine = parent.sender == world.caller.address
    if parent.kind is MessageKind.QUESTION and not mine:
        text = meant(parent.options, text)
    inbox = parent.inbox if mine else parent.sender
    if inbox == HUMAN:
        return mail(world, MailRequest(HUMAN, text, reply_to=message_id, attach=attach, key=key))
    one = next((one for one in known(world) if one.member.address == inbox), None)
    if one is None:
        _close(world, parent)
        name = parent.recipient if mine else parent.author
        raise Undeliverable(
            f"{name} has no inbox any more, or never had one",
            not_done="nothing was sent",
            hint=f"fan mail read --thread {parent.thread}",
        )
    return mail(world, MailRequest(one.member.id, text, reply_to=message_id, attach=attach, key=key))


def _close(world: World, parent: Message) -> None:
    """Nobody is left to whom an answer could go: the person is not asked any more."""
    if parent.kind is MessageKind.QUESTION and not world.caller.is_agent:
        world.store.mark([parent.id], "closed", world.clock.now())
        courier.wake(world)


def post(world: World, messages: Sequence[Message], *, charge: bool = True) -> list[Posted]:
    """Store messages and wake those who wait for them; the courier too, where an agent is to be told."""
    if any(one.inbox != HUMAN for one in messages):
        courier.ensure(world)  # first: where that fails, nothing was sent
    stored = world.store.post(messages, charge=charge, now=world.clock.now)
    bells.ring(world.paths.runtime, [bells.of_inbox(one.message.inbox) for one in stored])
    courier.wake(world)
    return stored


def author(world: World, caller: Caller) -> str:
    """How a caller is named in what it writes."""
    if caller.member:
        one = next((one for one in known(world) if one.member.id == caller.member.id), None)
        return name_of(one) if one else caller.member.session
    if caller.who is Who.AGENT:
        return f"agent {caller.agent}".strip()
    return caller.who.value


def name_of(one: Known) -> str:
    """`GROUP:N (agent)`."""
    return f"{one.name} ({one.member.agent})" if one.member.agent else one.name


def address(one: Known) -> Address:
    """Where a member's mail goes. Raises Undeliverable when its agent is not there to read it."""
    from fan.world import processes

    member = one.member
    if not member.agent:
        why = "it has no agent"
    elif not (member.pid and processes.alive(member.pid, member.pid_started)):
        why = member.failure or "its agent has exited" if member.pid else "it is still being made"
    else:
        return Address(member.address, name_of(one), one.group.id, member.id)
    raise Undeliverable(
        f"{one.name} cannot read it: {why}",
        not_done="nothing was sent",
        hint=f"fan resume {member.id}" if member.pid else "fan ls",
    )


def new_message_id() -> str:
    """An id that was never given before."""
    return new_id(random.SystemRandom().choice)


def attached(world: World, paths: Sequence[str], room: str) -> tuple[Attachment, ...]:
    """The files at these paths, handed over. Raises what the stash raises."""
    from fan.verbs.stash import hand_over

    return tuple(hand_over(world, path, room) for path in paths)


def _addresses(world: World, text: str) -> tuple[list[Address], list[Left]]:
    """To whom `text` goes, and who of a group cannot be reached."""
    if text == HUMAN:
        return [PERSON], []
    if text.endswith(EVERYBODY):
        return _group(world, text.removesuffix(EVERYBODY))
    one = _member(world, text)
    if world.caller.member and one.member.id == world.caller.member.id:
        raise OwnChat(f"{one.name} is you", not_done="nothing was sent", hint="fan mail send human 'text'")
    return [address(one)], []


def _member(world: World, text: str) -> Known:
    """The living member that `text` names. Raises Undeliverable for one that was removed, NotFound, Ambiguous."""
    try:
        return find(known(world), text, here(world))
    except NotFound as unknown:
        gone = removed(world, text)
        if not gone:
            raise
        raise Undeliverable(
            f"{gone[-1].session} was removed", not_done="nothing was sent", hint="fan undo brings it back"
        ) from unknown


def _group(world: World, text: str) -> tuple[list[Address], list[Left]]:
    group = find_group(world.store.groups(), text, here(world))
    me = world.caller.member.id if world.caller.member else ""
    found, left = [], []
    for one in known(world):
        if one.group.id == group.id and one.member.id != me:
            try:
                found.append(address(one))
            except Undeliverable as error:
                left.append(Left(one.name, error.message))
    if not found:
        raise Undeliverable(
            f"nobody of {group.stem} can read it", not_done="nothing was sent", hint=f"fan ls --group {group.stem}"
        )
    return found, left


def _copy(first: Message, to: Address) -> Message:
    """The same note to another inbox, in the same thread."""
    thread = first.thread or first.id
    return replace(first, id=new_message_id(), inbox=to.inbox, recipient=to.name, room=to.room, thread=thread)
