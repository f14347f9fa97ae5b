"""What follows for a member from its deliveries and its agent's state: its turn, and who may start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from fan.core.model import Delivery, Kind, Member, Phase, Purpose, State, Status, Step, Turn, Typed
from fan.core.reading import BUSY, WAITS, Reading

PAST_TRUST = {State.REST, State.WORKING, State.LIMITED, State.ERRORED}


def turn(last: Delivery | None, state: State, kind: str, background: str = "", *, rested: bool = False) -> Turn:
    """Whether the work that `last` asked for has been done; background work and dialogs are not its end.

    `rested` says that the agent was at rest since; it counts where the state says nothing of that work.
    """
    if last is None or last.status is not Status.SENT:
        return Turn.NONE
    if is_of_the_process(state, kind) and rested:
        return Turn.DONE
    if not is_over(last, state, kind, background):
        return Turn.RUNNING
    return Turn.NONE if state in (State.ERRORED, State.EXITED) else Turn.DONE


def is_of_the_process(state: State, kind: str) -> bool:
    """Whether a state is of an agent's start or end, and says nothing of what it was asked before."""
    return state in (State.STARTING, State.EXITED) or kind in (Kind.TRUST, Kind.LOGIN)


def is_over(last: Delivery, state: State, kind: str, background: str = "") -> bool:
    """Whether nobody works on `last` any more: it was done, or ended in an error or with its agent."""
    idle = not background or state is State.EXITED
    return last.status is Status.SENT and idle and has_ended(state, kind)


def has_ended(state: State, kind: str) -> bool:
    """Whether an agent in this state is through with what it was asked; a question of its own ends a turn too."""
    return state in (State.REST, State.ERRORED, State.EXITED) or kind == Kind.QUESTION


def no_session(member: Member) -> str:
    """Why a member has no session: it had one, or never had."""
    if not member.agent:
        return "it has no agent"
    if member.step is Step.FAILED:
        return f"it never had a session: {member.failure}"
    return "its session is gone" if member.step is Step.READY else "it is being made, and has no session yet"


def pending(deliveries: Iterable[Delivery]) -> list[Delivery]:
    """Those still to be typed or proven."""
    return [one for one in deliveries if one.status is Status.PENDING]


def due(deliveries: Iterable[Delivery]) -> Delivery | None:
    """Which one is to be brought forward: what is under way, else the oldest; one that is tried again is older."""
    return min(pending(deliveries), key=lambda one: one.phase is Phase.WAITING, default=None)


def to_retry(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """What did not get through since the last prompt that did, newest first, whatever is pending behind it.

    A line that tells of mail is no prompt, nor is a question that was taken back.
    """
    ended = [one for one in reversed(deliveries) if one.status is not Status.PENDING and _is_prompt(one)]
    return list(takewhile(lambda one: one.status is Status.NOT_SENT, ended))


def _is_prompt(one: Delivery) -> bool:
    return one.purpose is Purpose.PROMPT or (one.purpose is Purpose.ASK and one.typed is not Typed.NO)


def releases(standings: Sequence[tuple[bool, State, str]]) -> list[int]:
    """Which held members (by index) may start their agent now.

    Each standing is (held, state, kind). The first of a group asks the trust question for all: when it is past
    it all start; when it has left, the next one asks.
    """
    held = [index for index, (is_held, _, _) in enumerate(standings) if is_held]
    started = [(state, kind) for is_held, state, kind in standings if not is_held]
    if not held:
        return []
    if any(state in PAST_TRUST or _asks_later(state, kind) for state, kind in started):
        return held
    if all(state is State.EXITED for state, _ in started):
        return held[:1]
    return []


def _asks_later(state: State, kind: str) -> bool:
    return state is State.NEEDS_INPUT and kind in (Kind.PERMISSION, Kind.CHOICE, Kind.QUESTION)


def is_stuck(status: str, state: str) -> bool:
    """Whether a prompt did not get through: while its agent works, evidence that it did may still come."""
    return status == Status.NOT_SENT and state != State.WORKING


def quotes_agent(reading: Reading, note: str) -> bool:
    """Whether what is told of a reading, or a delivery's note, repeats words that stood on the agent's screen."""
    told = {claim.detail for claim in reading.claims if claim.detail}
    if reading.detail in told or (not reading.detail and reading.background):
        return True
    left = note.startswith("agent ") and ": " in note
    return left or note.startswith(tuple(f"{why} (" for why in (*BUSY.values(), *WAITS.values())))
