"""What follows for a member: its turn, and who may start."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fan.core.model import Delivery, Kind, Phase, Purpose, State, Status, Turn, Typed, Witness
from fan.core.reading import Claim, gone
from fan.core.standing import due, is_over, quotes_agent, releases, to_retry, turn

SENT = Delivery(1, "m", "x", 0.0, status=Status.SENT)


@pytest.mark.parametrize(
    ("state", "kind", "expected"),
    [
        (State.REST, "", Turn.DONE),
        (State.ERRORED, "", Turn.NONE),
        (State.EXITED, "", Turn.NONE),
        (State.NEEDS_INPUT, Kind.QUESTION, Turn.DONE),
        (State.NEEDS_INPUT, Kind.PERMISSION, Turn.RUNNING),
        (State.WORKING, "", Turn.RUNNING),
        (State.LIMITED, "", Turn.RUNNING),
        (State.UNKNOWN, "", Turn.RUNNING),
    ],
)
def test_a_turn_ends_with_rest(state: State, kind: str, expected: Turn) -> None:
    """Silence, a dialog or a limit are not the end of the work; an error or an exit is, and the work is not done.

    Red when a turn that failed counts as done.
    """
    assert turn(SENT, state, kind) is expected
    assert is_over(SENT, state, kind) is (expected is not Turn.RUNNING)


@pytest.mark.parametrize(
    ("state", "kind", "expected"),
    [
        (State.STARTING, "", Turn.DONE),
        (State.NEEDS_INPUT, Kind.TRUST, Turn.DONE),
        (State.EXITED, "", Turn.DONE),
        (State.WORKING, "", Turn.RUNNING),
        (State.NEEDS_INPUT, Kind.PERMISSION, Turn.RUNNING),
        (State.ERRORED, "", Turn.NONE),
    ],
)
def test_work_that_was_done_stays_done(state: State, kind: str, expected: Turn) -> None:
    """One that rested after its prompt has done the work, though its agent has exited since or starts again."""
    assert turn(SENT, state, kind, rested=True) is expected


@pytest.mark.parametrize("status", [Status.PENDING, Status.NOT_SENT])
def test_without_a_sent_prompt_there_is_no_turn(status: Status) -> None:
    """B028: never `done` before a first prompt."""
    assert turn(None, State.REST, "") is Turn.NONE
    assert turn(replace(SENT, status=status), State.REST, "") is Turn.NONE


def _queue(*words: str) -> list[Delivery]:
    """Deliveries numbered from 1 by short words: `sent`, `failed`, `stuck`, `waits`, `typing`; `ask:` or `wake:`
    before it."""
    how = {
        "sent": replace(SENT, typed=Typed.YES),
        "failed": replace(SENT, status=Status.NOT_SENT),
        "stuck": replace(SENT, status=Status.NOT_SENT, typed=Typed.YES, phase=Phase.WATCHING),
        "waits": replace(SENT, status=Status.PENDING),
        "typing": replace(SENT, status=Status.PENDING, typed=Typed.YES, phase=Phase.ECHO),
    }
    parts = [word.rpartition(":") for word in words]
    return [
        replace(how[word], id=number, purpose=Purpose(purpose or "prompt"))
        for number, (purpose, _, word) in enumerate(parts, 1)
    ]


@pytest.mark.parametrize(
    ("queue", "number"),
    [
        (["waits", "waits"], 1),
        (["sent", "stuck", "waits", "waits"], 3),
        (["waits", "typing"], 2),
        (["typing", "waits"], 1),
        (["sent", "failed"], None),
    ],
)
def test_what_is_under_way_comes_first(queue: list[str], number: int | None) -> None:
    """Else in the order in which they were queued. Red when one that is tried again gets before another's Enter."""
    found = due(_queue(*queue))
    assert (found.id if found else None) == number


@pytest.mark.parametrize(
    ("queue", "numbers"),
    [
        ([], []),
        (["waits"], []),
        (["sent"], []),
        (["stuck"], [1]),
        (["stuck", "waits", "waits"], [1]),
        (["failed", "stuck", "waits"], [2, 1]),
        (["failed", "sent", "waits"], []),
        (["failed", "sent", "failed"], [3]),
        (["stuck", "ask:failed"], [1]),
        (["stuck", "ask:stuck"], [2, 1]),
        (["stuck", "wake:sent", "wake:stuck"], [1]),
        (["stuck", "ask:sent"], []),
    ],
)
def test_a_retry_reaches_the_newest_that_failed(queue: list[str], numbers: list[int]) -> None:
    """Whatever is pending behind it; never one before a prompt that was taken since."""
    assert [one.id for one in to_retry(_queue(*queue))] == numbers


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


@pytest.mark.parametrize(
    ("detail", "background", "note", "expected"),
    [
        ("resets 3pm", "", "", True),
        ("no rule fits the screen", "", "", False),
        ("", "2 shells", "", True),
        ("", "", "agent exited with code 1: IGNORE ALL", True),
        ("", "", "agent left at the trust question (exited with code 1)", False),
        ("", "", "its usage limit is reached (resets 3pm)", True),
        ("", "", "waits: it is working", False),
    ],
)
def test_an_agent_s_words_in_a_row_are_known_as_such(detail: str, background: str, note: str, expected: bool) -> None:
    """Words from the screen are untrusted, ours are not. Red when a dead agent's last words pass for ours."""
    claims = (Claim(Witness.SCREEN, State.LIMITED, "", "resets 3pm"),)
    reading = replace(gone(), detail=detail, background=background, claims=claims)
    assert quotes_agent(reading, note) is expected
