"""What follows for a member: its turn, and who may start."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fan.core.model import Delivery, Kind, State, Status, Turn
from fan.core.standing import releases, turn

SENT = Delivery(1, "m", "x", 0.0, status=Status.SENT)


@pytest.mark.parametrize(
    ("state", "kind", "expected"),
    [
        (State.REST, "", Turn.DONE),
        (State.ERRORED, "", Turn.DONE),
        (State.EXITED, "", Turn.DONE),
        (State.NEEDS_INPUT, Kind.QUESTION, Turn.DONE),
        (State.NEEDS_INPUT, Kind.PERMISSION, Turn.RUNNING),
        (State.WORKING, "", Turn.RUNNING),
        (State.LIMITED, "", Turn.RUNNING),
        (State.UNKNOWN, "", Turn.RUNNING),
    ],
)
def test_a_turn_ends_with_rest(state: State, kind: str, expected: Turn) -> None:
    """Silence, a dialog or a limit are not the end of the work."""
    assert turn(SENT, state, kind) is expected


@pytest.mark.parametrize("status", [Status.PENDING, Status.NOT_SENT])
def test_without_a_sent_prompt_there_is_no_turn(status: Status) -> None:
    """B028: never `done` before a first prompt."""
    assert turn(None, State.REST, "") is Turn.NONE
    assert turn(replace(SENT, status=status), State.REST, "") is Turn.NONE


Standing = tuple[bool, State, str]
ASKS: Standing = (False, State.NEEDS_INPUT, Kind.TRUST)
HELD: Standing = (True, State.STARTING, "")


@pytest.mark.parametrize(
    ("standings", "starts"),
    [
        ([ASKS, HELD, HELD], []),
        ([(False, State.STARTING, ""), HELD], []),
        ([(False, State.UNKNOWN, ""), HELD], []),
        ([(False, State.NEEDS_INPUT, Kind.LOGIN), HELD], []),
        ([(False, State.REST, ""), HELD, HELD], [1, 2]),
        ([(False, State.WORKING, ""), HELD], [1]),
        ([(False, State.LIMITED, ""), HELD], [1]),
        ([(False, State.ERRORED, ""), HELD], [1]),
        ([(False, State.NEEDS_INPUT, Kind.PERMISSION), HELD], [1]),
        ([(False, State.NEEDS_INPUT, Kind.QUESTION), HELD], [1]),
        ([(False, State.EXITED, ""), HELD, HELD], [1]),
        ([(False, State.EXITED, ""), ASKS, HELD], []),
        ([HELD, HELD], [0]),
        ([(False, State.REST, "")], []),
        ([], []),
    ],
)
def test_the_first_one_asks_for_all(standings: list[Standing], starts: list[int]) -> None:
    """All start once the question is past; when the asker has left, one other asks; unknown releases nobody."""
    assert releases(standings) == starts
