"""`fan mail send` and `reply`: a note for a member, for all of a group, or for the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields

from msgspec.structs import replace

from fan.core.caller import Act, Caller, Who
from fan.core.mail import HUMAN, Attachment, Message, MessageKind, answered_to, names_person, speaks_for
from fan.core.questions import meant
from fan.core.secrets import quoted
from fan.courier import start as courier
from fan.errors import NotFound, Undeliverable
from fan.verbs.left import Left
from fan.verbs.target import Known, find, find_group, here, known, not_caller, removed
from fan.world import bells
from fan.world.ids import new_id
from fan.world.store.mailbox import Posted
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class MailRequest:
    """A text to a member, a group or `human`; `reply_to` is the message that it answers, if it answers one.

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
    """What was stored, what could not be and why, and how many older messages went to make room.

    `notes` say what becomes of an answer to a question that was over already.
    """

    sent: list[Receipt] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    evicted: int = 0
    notes: list[str] = field(default_factory=list)

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
LONGEST_WORDS = 60
EVERYBODY = ":all"
"""After a group's name: all of its members. The name alone is its first member's branch."""


def mail(world: World, request: MailRequest) -> Mailed:
    """Store a message durably, then tell whoever waits for it.

    To a question of the recipient's to whoever calls, it is an answer: the number of an option stands for its words.
    Raises NotFound, Ambiguous, Undeliverable, OwnChat, UsageError, Empty, TooLarge, RateLimited: nothing is stored.
    """
    caller = world.caller
    if caller.is_agent and names_person(request.claim):
        world.allow(Act.HUMAN_NAME)
    to, left = _addresses(world, request.to)
    first = Message(
        seq=0,
        id=new_id(),
        room=to[0].room,
        inbox=to[0].inbox,
        recipient=to[0].name,
        sender=caller.address,
        author=author(world, caller),
        verified=caller.verified.value,
        thread="",
        body=_said(world, request, to),
        at=world.clock.now(),
        claim=request.claim,
        subject=request.subject,
        reply_to=request.reply_to,
        key=request.key,
        about=caller.member.id if caller.member else "",
        attachments=tuple(Attachment("", path, "", 0) for path in request.attach),
    )
    stored = _posted(world, [first, *(_copy(first, one) for one in to[1:])])
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


def _said(world: World, request: MailRequest, to: Sequence[Address]) -> str:
    try:
        parent = world.store.message(request.reply_to) if request.reply_to else None
    except NotFound:
        return request.text  # evicted, or never issued: storing it tells
    if parent is None or parent.kind is not MessageKind.QUESTION or parent.sender != to[0].inbox:
        return request.text
    is_ours = speaks_for(world.caller.address, parent.inbox)
    return meant(parent.options, request.text) if is_ours else request.text


def reply(world: World, message_id: str, text: str, attach: tuple[str, ...] = (), key: str = "") -> Mailed:
    """Answer a message: to who wrote it, or, where we wrote it, to whom it went. A question is answered by the words
    or the number of an option, or freely; one whose asker is gone closes. An answer that comes too late is mail.
    """
    parent = world.store.message(message_id)
    inbox = answered_to(parent, world.caller.address)
    if inbox == HUMAN:
        return mail(world, MailRequest(HUMAN, text, reply_to=message_id, attach=attach, key=key))
    one = next((one for one in known(world) if one.member.address == inbox), None)
    if one is None:
        _close(world, parent)
        name = parent.recipient if inbox == parent.inbox else parent.author
        raise Undeliverable(
            f"{name} has no inbox any more, or never had one",
            not_done="nothing was sent",
            hint=f"fan mail read --thread {parent.thread}",
        )
    done = mail(world, MailRequest(one.member.id, text, reply_to=message_id, attach=attach, key=key))
    return done if inbox == parent.inbox else replace_fields(done, notes=_late(world, parent, done.sent[0]))


def first_answer(world: World, question: Message) -> Message | None:
    """The person's first answer, if there is one; nobody else's words in the thread are taken for it."""
    found = world.store.inbox(question.sender, thread=question.thread)
    return next((one for one in found if one.sender in (HUMAN, Who.SCRIPT) and one.reply_to == question.id), None)


def _late(world: World, question: Message, ours: Receipt) -> list[str]:
    """What becomes of an answer that the asker did not wait for; nothing to say of one that it did."""
    if question.kind is not MessageKind.QUESTION or ours.repeated:
        return []
    first = first_answer(world, question)
    if first and first.id != ours.id:
        why = f"was answered already: {_short(first.body)}"
    elif question.answered_at is not None:
        why = "was answered already"
    elif question.closed_at is not None:
        why = "was closed, as its agent had left"
    elif question.until is not None and ours.stored > question.until:
        why = "was over: its asker waits no longer"
    else:
        return []
    return [f"question {question.id} {why}; {question.author} finds yours in its inbox, as mail"]


def _short(text: str) -> str:
    words = quoted(text)
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


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


def _posted(world: World, messages: Sequence[Message]) -> list[Posted]:
    """Hand over the files at the messages' paths, once nothing else is in the way, and store the messages."""
    paths = [one.path for one in messages[0].attachments]
    if not paths:
        return post(world, messages)
    from fan.verbs.stash import handed_over, take_back

    world.store.admit(messages, at=world.clock.now())
    with handed_over(world, paths, messages[0].room) as given:
        stored = post(world, [replace(one, attachments=given.files) for one in messages])
    if all(one.repeated for one in stored):
        take_back(world, given.fresh)
    return stored


def _addresses(world: World, text: str) -> tuple[list[Address], list[Left]]:
    """To whom `text` goes, and who of a group cannot be reached."""
    if text == HUMAN:
        return [PERSON], []
    if text.endswith(EVERYBODY):
        return _group(world, text.removesuffix(EVERYBODY))
    one = not_caller(world, _member(world, text), "nothing was sent", "fan mail send human 'text'")
    return [address(one)], []


def _member(world: World, text: str) -> Known:
    """The living member that `text` names. Raises Undeliverable for one that was removed, NotFound, Ambiguous."""
    try:
        return find(known(world), text, here(world))
    except NotFound as unknown:
        gone = removed(world, text)
        if not gone:
            raise
        raise Undeliverable(f"{gone.name} was removed", not_done="nothing was sent", hint="fan undo") from unknown


def _group(world: World, text: str) -> tuple[list[Address], list[Left]]:
    group = find_group(world.store.groups(), text, here(world))
    me = world.caller.member.id if world.caller.member else ""
    found, left = [], []
    for one in known(world):
        if one.group.id == group.id and one.member.id != me:
            try:
                found.append(address(one))
            except Undeliverable as error:
                left.append(Left(one.member.session, error.message))
    if not found:
        raise Undeliverable(
            f"nobody of {group.stem} can read it", not_done="nothing was sent", hint=f"fan ls --group {group.stem}"
        )
    return found, left


def _copy(first: Message, to: Address) -> Message:
    """The same note to another inbox, in the same thread."""
    thread = first.thread or first.id
    return replace(first, id=new_id(), inbox=to.inbox, recipient=to.name, room=to.room, thread=thread)
