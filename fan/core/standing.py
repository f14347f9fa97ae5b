"""What follows for a member from its deliveries and its agent's state: its turn, and who may start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fan.core.model import Delivery, Kind, State, Status, Turn

PAST_TRUST = {State.REST, State.WORKING, State.LIMITED, State.ERRORED}


def turn(last: Delivery | None, state: State, kind: str, background: str = "") -> Turn:
    """Whether the work that `last` asked for has been done; background work and dialogs are not its end."""
    if last is None or last.status is not Status.SENT:
        return Turn.NONE
    if background and state is not State.EXITED:
        return Turn.RUNNING
    if state in (State.REST, State.ERRORED, State.EXITED) or kind == Kind.QUESTION:
        return Turn.DONE
    return Turn.RUNNING


def pending(deliveries: Iterable[Delivery]) -> list[Delivery]:
    """Those still to be typed or proven."""
    return [one for one in deliveries if one.status is Status.PENDING]


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
