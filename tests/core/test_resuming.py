"""What a member takes along when its agent is started again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fan.core.model import Delivery, Phase, Report, State, Status, Typed
from fan.core.recipe import Hooks
from fan.core.resuming import Talk, carried, conversation, told

HOOKS = Hooks(prompt="prompt", session="session_id", transcript="transcript_path")


def _report(state: State, **payload: object) -> Report:
    return Report(1, "m", "l", state, "", 1.0, json.dumps(payload))


def _delivery(phase: Phase, presses: int = 0, typed: Typed = Typed.NO, status: Status = Status.PENDING) -> Delivery:
    return Delivery(1, "m", "Do it", 1.0, phase=phase, presses=presses, typed=typed, status=status)


def test_the_conversation_is_the_last_one_that_was_worked_in() -> None:
    """The newest id with a turn, and its transcript; what was only greeted in is none, for no agent keeps it.

    Red when the id of a conversation without a turn is handed to the agent, which then refuses to start.
    """
    greeted = _report(State.REST, session_id="one", transcript_path="/t/one")
    worked = _report(State.WORKING, session_id="one", transcript_path="/t/one")
    cleared = _report(State.REST, session_id="two")
    assert conversation([greeted], HOOKS) is None
    assert conversation([greeted, worked, greeted], HOOKS) == Talk("one", "/t/one")
    assert conversation([greeted, worked, cleared], HOOKS) is None
    assert conversation([worked], None) is None
    assert conversation([], HOOKS) is None


@pytest.mark.parametrize("name", ["--dangerous", "a b", "", "../x", "x" * 300, "a\nb"])
def test_what_is_no_plain_id_is_no_conversation(name: str) -> None:
    """An id goes on a command line: nothing that could be an option, a path or two words."""
    assert conversation([_report(State.WORKING, session_id=name)], HOOKS) is None


@pytest.mark.parametrize("payload", ["", "{", "[1]", '{"prompt": 3}', '{"other": "x"}'])
def test_what_a_hook_did_not_say_is_nothing(payload: str) -> None:
    """No payload, broken ones and other types have no text."""
    assert told(Report(1, "m", "l", State.WORKING, "", 1.0, payload), "prompt") == ""


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.LOADED, Phase.PASTING, Phase.ECHO])
def test_what_was_not_submitted_is_typed_anew(phase: Phase) -> None:
    """Before the submit key is on record, a text can only have been in the composer that is gone.

    Red when a prompt that was pasted and not submitted is given up.
    """
    after = carried(_delivery(phase, typed=Typed.UNKNOWN), [], 9.0)
    assert (after.status, after.phase, after.typed) == (Status.PENDING, "waiting", Typed.NO)


@pytest.mark.parametrize("phase", [Phase.PRESSING, Phase.PROVING, Phase.ECHO])
def test_what_was_submitted_is_never_typed_again(phase: Phase) -> None:
    """Once the key is on record the old agent may have it: `not_sent`, and why; with its own word for it, `sent`.

    Red when it goes back to waiting.
    """
    delivery = _delivery(phase, presses=1, typed=Typed.YES)
    lost = carried(delivery, ["something else"], 9.0)
    assert (lost.status, lost.phase, lost.typed) == (Status.NOT_SENT, "done", Typed.YES)
    assert "before it was clear" in lost.note
    taken = carried(delivery, ["Do it"], 9.0)
    assert (taken.status, taken.evidence, taken.done_at) == (Status.SENT, "report", 9.0)


def test_late_evidence_is_not_looked_for_in_another_launch() -> None:
    """One that was watched on is done; what the new agent shows speaks of another prompt."""
    after = carried(_delivery(Phase.WATCHING, 2, Typed.YES, Status.NOT_SENT), [], 9.0)
    assert (after.status, after.phase) == (Status.NOT_SENT, "done")


@given(st.sampled_from(Phase), st.integers(0, 3), st.sampled_from(Typed), st.sampled_from(Status), st.booleans())
def test_only_what_was_never_submitted_goes_back(
    phase: Phase, presses: int, typed: Typed, status: Status, took: bool
) -> None:
    """Whatever stood on record: it ends, or waits with nothing submitted; and carrying twice is carrying once."""
    before = replace(_delivery(phase, presses, typed), status=status)
    after = carried(before, ["Do it"] if took else [], 9.0)
    assert carried(after, [], 10.0) == after
    if before.phase is Phase.DONE:
        assert after == before
    elif after.phase is not Phase.DONE:
        assert (after.phase, after.presses, after.typed) == ("waiting", 0, Typed.NO)
        assert before.status is not Status.NOT_SENT
