"""Which alerts are opened in the person's inbox, and which are closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fan.core.alerts import LONGEST_WORDS, Alert, Standing, counted, judge, orphaned
from fan.core.mail import HUMAN, Message, MessageKind
from fan.core.model import Change, Delivery, Kind, Member, Phase, Purpose, State, Status, Step

NOW = 100.0
MEMBER = Member("k3j4", "g", 2, "fan/x-2", Path("/w"), "s", "agent", "", "0", Step.READY)


def change(state: State, kind: str = "", detail: str = "", *, age: float = 5.0) -> Change:
    """A state as noted `age` seconds ago."""
    return Change(MEMBER.id, state, kind, detail, "screen", NOW - age)


def prompt(status: Status, note: str = "", *, age: float = 5.0, **more: Any) -> Delivery:
    """A prompt that came to `status` some seconds ago."""
    return Delivery(1, MEMBER.id, "Do it", 1.0, status, Phase.DONE, note=note, done_at=NOW - age, **more)


def standing(noted: Change | None, last: Delivery | None = None) -> Standing:
    """The member so."""
    return Standing(MEMBER, "fan/x:2 (agent)", noted, last)


def shown(alert: Alert, message_id: str = "a1") -> Message:
    """The open message of an alert."""
    mail = Message(1, message_id, "alerts", HUMAN, HUMAN, "fan", "fan", "process", message_id, alert.text, NOW)
    return replace(mail, kind=MessageKind.ALERT, key=alert.key, about=alert.member)


ASKING = standing(change(State.NEEDS_INPUT, Kind.PERMISSION, "rm -rf build?"))
FAILED = standing(change(State.REST), prompt(Status.NOT_SENT, "stalled"))


@pytest.mark.parametrize(
    ("one", "texts"),
    [
        (ASKING, ["fan/x:2 (agent) asks for permission: rm -rf build?; fan attach k3j4"]),
        (standing(change(State.NEEDS_INPUT, Kind.TRUST)), ["fan/x:2 (agent) asks for trust; fan attach k3j4"]),
        (standing(change(State.NEEDS_INPUT, Kind.QUESTION)), ["fan/x:2 (agent) asks a question; fan attach k3j4"]),
        (standing(change(State.NEEDS_INPUT, "new")), ["fan/x:2 (agent) asks for something; fan attach k3j4"]),
        (FAILED, ["fan/x:2 (agent) did not get its prompt: stalled; fan send --retry k3j4"]),
        (
            standing(change(State.EXITED), prompt(Status.NOT_SENT, "its agent left")),
            ["fan/x:2 (agent) did not get its prompt: its agent left; fan resume k3j4"],
        ),
        (standing(change(State.WORKING), prompt(Status.NOT_SENT, "stalled")), []),
        (standing(change(State.REST), prompt(Status.NOT_SENT, "gone", purpose=Purpose.ASK)), []),
        (standing(change(State.REST), prompt(Status.PENDING)), []),
        (standing(change(State.LIMITED)), []),
        (standing(None), []),
    ],
)
def test_what_waits_for_the_person(one: Standing, texts: list[str]) -> None:
    """A dialog or question of the agent's and a failed prompt each raise an alert with the next command; work, rest,
    a limit, an unknown state, a prompt that still waits and an ask, of which its asker is told, raise none."""
    assert [alert.text for alert in judge([one], [], NOW).to_open] == texts


def test_one_at_a_time_and_closed_by_itself() -> None:
    """While it stands there is one message, another courier finds it by its mark, and it closes once it is over.

    Red when each look opens another, or when an answered question stays.
    """
    (alert,) = judge([ASKING], [], NOW).to_open
    open_ones = [shown(alert)]
    assert judge([ASKING], open_ones, NOW) == judge([], [], NOW)
    for over in ([standing(change(State.WORKING))], []):
        assert judge(over, open_ones, NOW).to_close == ("a1",)
    both = judge([standing(ASKING.change, FAILED.last)], open_ones, NOW)
    assert ([one.reason for one in both.to_open], both.to_close) == (["not_sent"], ())


def test_a_prompt_that_is_stuck_again_is_told_again() -> None:
    """While its agent worked the alert was closed, since proof might have come; none did: that is another occasion.

    Red when both have one key: the store would answer with the closed message, and nobody would be called.
    """
    failed = prompt(Status.NOT_SENT, "stalled", age=60.0)
    first, again = (judge([standing(change(State.REST, age=age), failed)], [], NOW).to_open[0] for age in (50, 5))
    assert first.mark == again.mark
    assert first.key != again.key


def test_another_kind_of_question_is_another_alert() -> None:
    """Trust answered, permission asked: the one closes as the other opens."""
    (trust,) = judge([standing(change(State.NEEDS_INPUT, Kind.TRUST))], [], NOW).to_open
    after = judge([ASKING], [shown(trust)], NOW)
    assert ([one.reason for one in after.to_open], after.to_close) == (["permission"], ("a1",))


def test_what_does_not_stand_calls_nobody() -> None:
    """A question that the agent closes by itself within a second is no alert; the verdict says when to look again."""
    young = standing(change(State.NEEDS_INPUT, Kind.PERMISSION, age=0.25))
    verdict = judge([young], [], NOW)
    assert not verdict.to_open
    assert verdict.again == pytest.approx(NOW + 0.75)
    assert judge([young], [], NOW + 0.75).to_open


def test_an_agents_words_are_masked_made_visible_and_bounded() -> None:
    """No secret of a known shape, no line end, no escape of a terminal and no endless text gets into the inbox.

    Red when the words are cut before they are masked.
    """
    secret = "sk-" + "a1B2" * 8
    begun = f"export KEY={secret}\n\x1b[31mred "
    words = begun + "x" * (LONGEST_WORDS - len(begun) - 15) + f" {secret}"
    (alert,) = judge([standing(change(State.NEEDS_INPUT, Kind.CHOICE, words))], [], NOW).to_open
    assert secret[:6] not in alert.text
    assert alert.text.isprintable()
    assert "\\x1b[31mred" in alert.words
    assert len(alert.words) == LONGEST_WORDS


@pytest.mark.parametrize(
    ("noted", "sender", "gone"),
    [
        (None, "l1", False),
        (change(State.WORKING), "l1", False),
        (change(State.EXITED, age=5.0), "l1", True),
        (change(State.EXITED, age=15.0), "l1", False),
        (change(State.REST), "l0", True),
    ],
)
def test_a_question_is_over_when_its_asker_is(noted: Change | None, sender: str, gone: bool) -> None:
    """Asked ten seconds ago: it is over once its agent has exited since, or goes on with another conversation; an
    earlier exit was that of the start before.

    Red when any exit on record closes it: that of a resumed agent stands there until it has been looked at.
    """
    member = replace(MEMBER, launch="l1")
    asked = replace(shown(Alert("m", "r", "w", "", "n", 1.0)), kind=MessageKind.QUESTION, sender=sender, at=NOW - 10)
    changes = {member.id: noted} if noted else {}
    assert orphaned([asked], [member], changes) == (("a1",) if gone else ())
    assert orphaned([asked], [], changes) == ("a1",)


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ([], ""),
        ([MessageKind.ALERT], ""),
        ([MessageKind.MAIL], "1 message waits for you"),
        ([MessageKind.QUESTION, MessageKind.MAIL, MessageKind.ALERT], "1 question and 1 message wait for you"),
        ([MessageKind.MAIL, MessageKind.ANSWER], "2 messages wait for you"),
    ],
)
def test_the_inbox_is_counted(kinds: list[MessageKind], text: str) -> None:
    """Questions and mail by number; of members the list itself tells."""
    message = shown(Alert("m", "r", "w", "", "n", 1.0))
    assert counted(replace(message, kind=kind) for kind in kinds) == text
