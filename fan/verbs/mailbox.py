"""`fan mail read` and `ls`: what lies in an inbox, and the talks that there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fan.core.defaults import MESSAGES_SHOWN
from fan.core.mail import HUMAN, Message, MessageKind, answered_to
from fan.core.secrets import quoted
from fan.courier.alerting import close_of_gone
from fan.errors import NotAllowed, NotFound
from fan.verbs.fates import fates
from fan.verbs.target import find, find_group, here, known, removed
from fan.world.files import there
from fan.world.world import World

PREVIEW = 100
NO_ANSWER = "without an answer on record"
CLAIMED = "nothing was marked as read: only a variable says whose session this is; yours is `fan mail read human`"
"""To whoever is not known as the agent whose mail it reads: it may be the person, in a pane of its session."""
LEFT = "its agent had exited"
"""Of one who is there again by now."""


@dataclass(frozen=True, slots=True)
class File:
    """An attachment as its reader finds it; `missing`: nothing lies at its path any more."""

    name: str
    path: str
    size: int
    sha256: str
    missing: bool


@dataclass(frozen=True, slots=True)
class Receipts:
    """When it was stored, its reader told of it, it was read, answered, over; None: not yet."""

    stored: float
    woken: float | None
    read: float | None
    answered: float | None
    closed: float | None


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message as its reader finds it. `body`, `subject`, `claim` and file names are its author's words.

    `undeliverable` says why nobody will read it, `closed` why a question has no answer, nor will have one,
    `unanswerable` why a reply would reach nobody.
    """

    id: str
    thread: str
    kind: str
    author: str
    verified: str
    claim: str
    to: str
    subject: str
    body: str
    reply_to: str
    reply_to_missing: bool
    options: tuple[str, ...]
    until: float | None
    attachments: list[File]
    receipts: Receipts
    undeliverable: str = ""
    closed: str = ""
    unanswerable: str = ""
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What was asked for of an inbox, oldest first. `more` are further ones behind it, `evicted` those that it has
    lost and its owner was not told of; `peek`: reading it marks nothing, `note` says why if nobody asked for that.
    """

    inbox: str
    messages: list[MessageView] = field(default_factory=list)
    more: int = 0
    evicted: int = 0
    peek: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A thread: its subject or first words, who takes part, how many messages, how many the caller has not read."""

    thread: str
    about: str
    kind: str
    participants: list[str]
    messages: int
    unread: int
    at: float
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """An inbox by its owner's name (None: one's own), or one `thread`."""

    inbox: str | None = None
    peek: bool = False
    unread: bool = False
    thread: str = ""
    limit: int = MESSAGES_SHOWN


def read(world: World, request: ReadRequest) -> Reading:
    """At most `limit` messages, from the oldest unread one on, else the newest. Marks nothing: see `mark_read`."""
    address, name = _inbox(world, request.inbox)
    own = address == _own(world)
    if address == HUMAN:
        close_of_gone(world)
    found = (
        _of_thread(world, thread_meant(world, request.thread), address)
        if request.thread
        else _lasting(world.store.inbox(address))
    )
    if request.unread:
        found = [one for one in found if one.read_at is None and one.closed_at is None]
    begin = _begin(found, max(request.limit, 1))
    shown = found[begin : begin + max(request.limit, 1)]
    gone = fates(world, shown)
    views = [view(one, gone, world.caller.address) for one in shown]
    more = len(found) - begin - len(shown)
    claimed = own and world.caller.is_claim
    return Reading(
        name,
        views,
        more,
        world.store.evicted(address) if own else 0,
        peek=request.peek or claimed or not own,
        note=CLAIMED if claimed and views and not request.peek else "",
    )


def thread_meant(world: World, text: str) -> str:
    """The thread of this id, or that of the message of this id. Raises NotFound for one that was never issued."""
    found = world.store.thread_of(text)
    if not found:
        raise NotFound(f"there never was a thread `{text}`", not_done="nothing was read", hint="fan mail ls")
    return found


def mark_read(world: World, ids: Iterable[str], evicted: int = 0) -> None:
    """These were written out to whoever owns the inbox they lie in, and is known to be its owner, and that so many
    are lost."""
    if world.caller.is_claim:
        return
    mine = _own(world)
    if evicted:
        world.store.tell_evicted(mine, evicted)
    ids = [one.id for one in map(world.store.message, ids) if one.inbox == mine and one.read_at is None]
    if ids:
        world.store.mark(ids, "read", world.clock.now())


def talks(world: World, group: str | None = None) -> list[Talk]:
    """All threads for the person, for an agent its own; of one group or of all. The newest last."""
    messages = _lasting(world.store.messages())
    if group is not None:
        messages = _of_group(world, group, messages)
    mine = world.caller.address if world.caller.is_agent else ""
    threads: dict[str, list[Message]] = defaultdict(list)
    for one in messages:
        threads[one.thread].append(one)
    own = _own(world)
    found = [_talk(thread, of, own) for thread, of in threads.items() if not mine or _takes_part(mine, of)]
    return sorted(found, key=lambda one: one.at)


def view(message: Message, gone: Mapping[str, str], reader: str = "") -> MessageView:
    """The message for its reader, by their address; `gone` says by address who is not there any more, and why."""
    return MessageView(
        id=message.id,
        thread=message.thread,
        kind=message.kind.value,
        author=message.author,
        verified=message.verified,
        claim=message.claim,
        to=message.recipient,
        subject=message.subject,
        body=message.body,
        reply_to=message.reply_to,
        reply_to_missing=message.reply_to_missing,
        options=message.options,
        until=message.until,
        attachments=[
            File(one.name, one.path, one.size, one.sha256, there(Path(one.path)) is False)
            for one in message.attachments
        ],
        receipts=Receipts(message.at, message.woken_at, message.read_at, message.answered_at, message.closed_at),
        undeliverable=gone.get(message.inbox, "") if message.read_at is None else "",
        closed=_closed(message, gone),
        unanswerable=gone.get(answered_to(message, reader), ""),
    )


def _closed(message: Message, gone: Mapping[str, str]) -> str:
    """Why there is no answer to what asked for one; empty where there may be, or is."""
    if message.closed_at is None or message.answered_at is not None:
        return ""
    if message.kind is MessageKind.ASK:
        return NO_ANSWER
    return gone.get(message.sender, LEFT) if message.kind is MessageKind.QUESTION else ""


def _own(world: World) -> str:
    """The caller's inbox: an agent of ours has its own, a person and their scripts have `human`, others none."""
    caller = world.caller
    if caller.member:
        return caller.member.address
    return "" if caller.is_agent else HUMAN


def _inbox(world: World, name: str | None) -> tuple[str, str]:
    """Address and owner of the inbox that is meant; one whose owner was removed can still be read."""
    caller = world.caller
    if name == HUMAN or (name is None and not caller.member):
        return HUMAN, HUMAN
    if name is None and caller.member:
        return caller.member.address, caller.member.session
    try:
        one = find(known(world), name or "", here(world))
    except NotFound:
        gone = removed(world, name or "")
        if not gone:
            raise
        one = gone
    return one.member.address, one.name


def _of_thread(world: World, thread: str, address: str) -> list[Message]:
    """A thread whole for the person; for an agent what it has written or got of it."""
    found = world.store.thread(thread)
    if not world.caller.is_agent:
        return found
    mine = [one for one in found if {address, world.caller.address} & {one.inbox, one.sender}]
    if found and not mine:
        why = f"you take no part in the thread `{thread}`"
        raise NotAllowed(why, not_done="nothing was read", hint="fan mail ls")
    return mine


def _lasting(messages: Sequence[Message]) -> list[Message]:
    """Without the alerts that are over: nobody has to know of them any more."""
    return [one for one in messages if one.kind is not MessageKind.ALERT or one.closed_at is None]


def _begin(found: Sequence[Message], limit: int) -> int:
    """From where on to show: no unread message is passed over, else the newest are shown."""
    newest = max(len(found) - limit, 0)
    unread = (n for n, one in enumerate(found) if one.read_at is None and one.closed_at is None)
    return min(next(unread, newest), newest)


def _of_group(world: World, text: str, messages: Sequence[Message]) -> list[Message]:
    everything = sorted(world.store.groups(living=False), key=lambda one: one.created_at)
    # A stem is free again once its group has ended: the newest one of that name is meant.
    newest = {(one.repo, one.stem): one for one in everything}
    group = find_group([one for one in everything if one.id == text] or [*newest.values()], text, here(world))
    members = {one.id for one in world.store.members(group.id, living=False)}
    threads = {one.thread for one in messages if one.room == group.id or one.about in members}
    return [one for one in messages if one.thread in threads]


def _talk(thread: str, messages: Sequence[Message], own: str) -> Talk:
    first = messages[0]
    words = quoted(first.subject or first.body)
    who = dict.fromkeys(name for one in messages for name in (one.author, one.recipient))
    unread = sum(1 for one in messages if one.inbox == own and one.read_at is None and one.closed_at is None)
    about = words if len(words) <= PREVIEW else f"{words[: PREVIEW - 1]}…"
    return Talk(thread, about, first.kind.value, list(who), len(messages), unread, messages[-1].at)


def _takes_part(address: str, messages: Iterable[Message]) -> bool:
    return any(address in (one.inbox, one.sender) for one in messages)


def _is_orphaned(message: Message) -> bool:
    """Whether it is a question that closed without an answer."""
    return message.kind is MessageKind.QUESTION and message.closed_at is not None and message.answered_at is None
