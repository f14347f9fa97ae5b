"""`fan wait`: for members to come to a state, for mail, or for words on a screen."""

from __future__ import annotations

import re
import select
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from fan.core.caller import Caller
from fan.core.defaults import WAIT_SECONDS, WAIT_STATES
from fan.core.mail import HUMAN, Message, MessageKind
from fan.core.model import Kind, State, Status
from fan.errors import Interrupted, NotFound, TargetGone, TimedOut, Undeliverable, UsageError
from fan.verbs.mailbox import thread_meant
from fan.verbs.target import Known, find, group_members, here, known, members_meant, not_caller
from fan.verbs.watching import Standing, Watch
from fan.world.bells import Bells, of_inbox
from fan.world.world import World

SAFETY = 5.0
LOOK_EVERY = 0.25
SEEN_LINES = 200
SEARCHED = 1.0
"""Seconds that one look for a pattern may take, however little time is left."""
UNTIL = ("rest", "needs_input", "exited", "errored", "limited")
IDLE = "idle"
"""At rest, or asking something with its composer open."""


@dataclass(frozen=True, slots=True)
class WaitRequest:
    """Members and groups by name (none: the group we stand in), and the states that each of them may come to.

    With `any_one` the first that does ends the wait.
    """

    targets: tuple[str, ...] = ()
    until: tuple[str, ...] = WAIT_STATES
    any_one: bool = False
    timeout: float = WAIT_SECONDS


@dataclass(frozen=True, slots=True)
class Reached:
    """A member in a state that was waited for; `detail` says more where there is more."""

    id: str
    name: str
    state: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Waited:
    """Those that have come to it; with `--any` the first ones."""

    members: list[Reached]


@dataclass(frozen=True, slots=True)
class Head:
    """An unread message without its words; `fan mail read` shows them."""

    id: str
    thread: str
    kind: str
    author: str
    verified: str
    at: float
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class Mail:
    """What is unread in an inbox."""

    inbox: str
    messages: list[Head]


@dataclass(frozen=True, slots=True)
class Shown:
    """The line on a member's screen that fits."""

    id: str
    name: str
    line: str
    untrusted: bool = True


def members(world: World, request: WaitRequest) -> Waited:
    """Wait until all of them (or any) are in one of the states.

    Rest counts once the last prompt has been sent and its turn is over. Raises TargetGone when one that cannot come
    to it any more has left, TimedOut, which names those that are still awaited.
    """
    _check(request.until)
    awaited = _awaited(world, request.targets)
    deadline = world.clock.now() + request.timeout
    with Watch(world, awaited) as watch:
        while True:
            standings = watch.look()
            reached = [one for one in standings if _is_met(one, request.until)]
            left = [one for one in standings if one.gone and one not in reached]
            if left and (not request.any_one or len(left) == len(standings)):
                raise _gone(left)
            if len(reached) == len(standings) or (request.any_one and reached):
                return Waited([_reached(one) for one in reached])
            now = world.clock.now()
            if now >= deadline:
                raise _too_late([one for one in standings if one not in reached], request.timeout)
            watch.wait(deadline - now)


def output(world: World, target: str, pattern: str, timeout: float = WAIT_SECONDS) -> Shown:
    """Wait until a line on a member's screen, or one that has just left it, fits.

    For the main thread only. Raises UsageError, TargetGone, TimedOut.
    """
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"`{pattern}` is no regular expression: {error}", not_done="nothing was waited for"
        ) from error
    one = _can_be_awaited(world, find(known(world), target, here(world)))
    deadline = world.clock.now() + timeout
    with Watch(world, [one]) as watch:
        while True:
            (standing,) = watch.look()
            pane = standing.seen.pane
            lines = world.tmux.history(pane.id, SEEN_LINES) if pane else []
            if found := _fitting(world, wanted, lines, deadline - world.clock.now()):
                return Shown(one.member.id, one.name, found)
            if standing.gone:
                raise _gone([standing])
            now = world.clock.now()
            if now >= deadline:
                raise _too_late([standing], timeout)
            watch.wait(min(LOOK_EVERY, deadline - now))


def _fitting(world: World, wanted: re.Pattern[str], lines: Sequence[str], left: float) -> str | None:
    """The last line that fits. Raises TimedOut when the pattern is still at it after the time that is left."""
    try:
        with world.clock.limit(max(left, SEARCHED)):
            return next((line for line in reversed(lines) if wanted.search(line)), None)
    except TimeoutError as error:
        raise TimedOut(
            f"the pattern `{wanted.pattern}` takes too long to look for",
            not_done="whether a line fits is not known",
            hint="fan wait output --help",
        ) from error


def mail(
    world: World,
    thread: str = "",
    sender: str = "",
    timeout: float = WAIT_SECONDS,
    *,
    caller: IO[bytes] | None = None,
) -> Mail:
    """Wait until something is unread in one's own inbox, as it may be already; marks nothing.

    `caller` becomes readable when nobody waits for this any more. Raises Undeliverable for who has no inbox,
    NotFound for a thread that never was, TimedOut, Interrupted.
    """
    inbox = _inbox(world.caller)
    thread = thread_meant(world, thread) if thread else ""
    wanted = _sender(world, sender) if sender else ""
    leaving = [caller.fileno()] if caller else []
    deadline = world.clock.now() + timeout
    with Bells(world.paths.runtime, [of_inbox(inbox)]) as bells:
        while True:
            unread = [one for one in world.store.unread(inbox) if one.kind is not MessageKind.ALERT]
            found = [one for one in unread if thread in ("", one.thread) and wanted in ("", one.sender)]
            if found:
                return Mail(_owner(world.caller), [_head(one) for one in found])
            now = world.clock.now()
            if now >= deadline:
                which = f" in thread {thread}" if thread else ""
                raise TimedOut(f"no mail came{which} within {timeout:g} s", hint="fan mail read")
            bells.wait(min(SAFETY, deadline - now), *leaving)
            if select.select(leaving, [], [], 0)[0]:
                raise Interrupted("nobody waits for this any more", not_done="no more was waited")


def _check(until: Sequence[str]) -> None:
    unknown = [word for word in until if word not in (*UNTIL, IDLE)]
    if unknown or not until:
        what = f"`{unknown[0]}` is no state that can be waited for" if unknown else "no state was given"
        raise UsageError(what, not_done="nothing was waited for", hint=f"fan wait --until {','.join(UNTIL)}")


def _awaited(world: World, targets: Sequence[str]) -> list[Known]:
    """The members meant, each once; of a group those that have an agent, and never the caller. Raises NotFound,
    Ambiguous, OwnChat."""
    meant, named = members_meant(world, targets) if targets else (group_members(world, None), [])
    for one in named:
        _can_be_awaited(world, one)
    me = world.caller.member.id if world.caller.member else ""
    found = [one for one in meant if one.member.agent and one.member.id != me]
    if not found:
        raise NotFound("nobody is there to wait for", not_done="nothing was waited for", hint="fan ls --all")
    return found


def _can_be_awaited(world: World, one: Known) -> Known:
    if not one.member.agent:
        raise NotFound(f"{one.name} has no agent", not_done="nothing was waited for", hint="fan ls")
    return not_caller(world, one, "nothing was waited for")


def _is_met(standing: Standing, until: Sequence[str]) -> bool:
    reading = standing.seen.reading
    if standing.gone or reading.state is State.EXITED:
        return State.EXITED.value in until
    if reading.state is State.NEEDS_INPUT and State.NEEDS_INPUT.value in until:
        return True
    if not standing.steady or (standing.last and standing.last.status is Status.PENDING):
        return False
    if reading.state is State.REST:
        return not reading.background and (State.REST.value in until or IDLE in until)
    return reading.state.value in until or (IDLE in until and reading.kind == Kind.QUESTION)


def _reached(one: Standing) -> Reached:
    reading, member = one.seen.reading, one.one.member
    state = State.EXITED if one.gone else reading.state
    return Reached(member.id, one.one.name, state.value, reading.kind, one.gone or reading.detail)


def _gone(left: Sequence[Standing]) -> TargetGone:
    told = "; ".join(f"{one.one.name}: {one.gone}" for one in left)
    return TargetGone(f"what is waited for cannot come any more: {told}", hint=f"fan resume {left[0].one.member.id}")


def _too_late(awaited: Sequence[Standing], timeout: float) -> TimedOut:
    told = ", ".join(f"{one.one.name} ({_doing(one)})" for one in awaited)
    return TimedOut(
        f"after {timeout:g} s these are still awaited: {told}", hint=f"fan why {awaited[0].one.member.id}"
    )


def _doing(standing: Standing) -> str:
    reading, last = standing.seen.reading, standing.last
    parts = [" ".join(part for part in (reading.state.value, reading.kind) if part), reading.background]
    if last and last.status is Status.PENDING:
        parts.append(f"its prompt is pending{f': {last.note}' if last.note else ''}")
    return "; ".join(part for part in parts if part)


def _inbox(caller: Caller) -> str:
    if caller.is_agent and not caller.member:
        raise Undeliverable("only members of a group and the person have an inbox", hint="fan wait --help")
    return caller.member.address if caller.member else HUMAN


def _owner(caller: Caller) -> str:
    return caller.member.session if caller.member else HUMAN


def _sender(world: World, text: str) -> str:
    """The address of who is meant. Raises NotFound, Ambiguous."""
    return HUMAN if text == HUMAN else find(known(world), text, here(world)).member.address


def _head(one: Message) -> Head:
    return Head(one.id, one.thread, one.kind.value, one.author, one.verified, one.at)
