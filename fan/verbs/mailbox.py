"""`fan mail read` and `ls`: what lies in an inbox, and the talks that there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fan.core.mail import HUMAN, Message, MessageKind
from fan.core.model import Member
from fan.core.plain import one_line
from fan.core.secrets import masked
from fan.errors import NotAllowed, NotFound
from fan.verbs.target import find, find_group, here, known, removed
from fan.world.world import World

LIMIT = 20
PREVIEW = 100


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
    """A message as its reader finds it. `body`, `subject`, `claim` and file names are its author's words."""

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
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What was asked for of an inbox, oldest first. `more` are further ones behind it, `evicted` those that the room
    has lost; `peek`: reading it marks nothing."""

    inbox: str
    messages: list[MessageView] = field(default_factory=list)
    more: int = 0
    evicted: int = 0
    peek: bool = False


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
    limit: int = LIMIT


def read(world: World, request: ReadRequest) -> Reading:
    """At most `limit` messages, from the oldest unread one on, else the newest. Marks nothing: see `mark_read`."""
    address, name, room = _inbox(world, request.inbox)
    own = address == _own(world)
    found = _of_thread(world, request.thread, address) if request.thread else _lasting(world.store.inbox(address))
    if request.unread:
        found = [one for one in found if one.read_at is None and one.closed_at is None]
    begin = _begin(found, max(request.limit, 1))
    shown = found[begin : begin + max(request.limit, 1)]
    fates = _fates(world, shown)
    views = [view(one, fates.get(one.inbox, "")) for one in shown]
    more = len(found) - begin - len(shown)
    return Reading(name, views, more, world.store.evicted(room) if own else 0, peek=request.peek or not own)


def mark_read(world: World, ids: Iterable[str]) -> None:
    """These were written out to whoever owns the inbox they lie in."""
    mine = _own(world)
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


def view(message: Message, undeliverable: str = "") -> MessageView:
    """The message for its reader."""
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
            File(one.name, one.path, one.size, one.sha256, not Path(one.path).exists()) for one in message.attachments
        ],
        receipts=Receipts(message.at, message.woken_at, message.read_at, message.answered_at, message.closed_at),
        undeliverable=undeliverable if message.read_at is None else "",
    )


def _own(world: World) -> str:
    """The caller's inbox: an agent of ours has its own, a person and their scripts have `human`, others none."""
    caller = world.caller
    if caller.member:
        return caller.member.address
    return "" if caller.is_agent else HUMAN


def _inbox(world: World, name: str | None) -> tuple[str, str, str]:
    """Address, owner and room of the inbox that is meant; one whose owner was removed can still be read."""
    caller = world.caller
    if name == HUMAN or (name is None and not caller.member):
        return HUMAN, HUMAN, HUMAN
    if name is None and caller.member:
        return caller.member.address, caller.member.session, caller.member.group
    try:
        one = find(known(world), name or "", here(world))
    except NotFound:
        gone = removed(world, name or "")
        if not gone:
            raise
        return gone[-1].address, gone[-1].session, gone[-1].group
    return one.member.address, one.name, one.group.id


def _of_thread(world: World, thread: str, address: str) -> list[Message]:
    """A thread whole for the person; for an agent what it has written or got of it."""
    found = world.store.thread(thread)
    if not world.caller.is_agent:
        return found
    mine = [one for one in found if address in (one.inbox, one.sender)]
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
    words = one_line(masked(first.subject or first.body))
    who = dict.fromkeys(name for one in messages for name in (one.author, one.recipient))
    unread = sum(1 for one in messages if one.inbox == own and one.read_at is None and one.closed_at is None)
    about = words if len(words) <= PREVIEW else f"{words[: PREVIEW - 1]}…"
    return Talk(thread, about, first.kind.value, list(who), len(messages), unread, messages[-1].at)


def _takes_part(address: str, messages: Iterable[Message]) -> bool:
    return any(address in (one.inbox, one.sender) for one in messages)


def _fates(world: World, messages: Iterable[Message]) -> Mapping[str, str]:
    """Why nobody will read what lies unread in these inboxes, by address."""
    waiting = {one.inbox for one in messages if one.read_at is None and one.kind is not MessageKind.ALERT} - {HUMAN}
    if not waiting:
        return {}
    owners = {one.address: one for one in world.store.members(living=False)}
    fates = {address: _fate(owners.get(address)) for address in waiting}
    return {address: fate for address, fate in fates.items() if fate}


def _fate(owner: Member | None) -> str:
    from fan.world import processes

    if owner is None:
        return "its agent was started anew, with another conversation"
    if owner.removed_at is not None:
        return "its member was removed"
    return "" if processes.alive(owner.pid, owner.pid_started) else "its agent has exited"
