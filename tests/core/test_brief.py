"""When the brief stands before a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fan.core.brief import BRIEF, briefed, is_due
from fan.core.model import Delivery, Member, Purpose, Status, Step, Typed

MEMBER = Member("k3j4", "g", 1, "new", Path("/w"), "s", "agent", "", "0", Step.READY, briefed=True)
LOST = {"status": Status.NOT_SENT, "typed": Typed.NO}


@pytest.mark.parametrize(
    ("before", "due"),
    [
        ([], True),
        ([{"purpose": Purpose.ASK}, {"purpose": Purpose.WAKE}, {"command": True}], True),
        ([LOST], True),
        ([LOST, {}], False),
        ([{"status": Status.SENT, "typed": Typed.YES}], False),
        ([{"status": Status.NOT_SENT, "typed": Typed.UNKNOWN}], False),
    ],
)
def test_the_first_prompt_that_is_typed_gets_it(before: list[dict[str, Any]], due: bool) -> None:
    """A question, a line that tells of mail, a slash command and a prompt of which nothing was typed come before it;
    a prompt that waits or may have been typed has had it. Who was not made with `--brief` never gets it."""
    deliveries = [Delivery(n, MEMBER.id, "text", 1.0, **more) for n, more in enumerate(before)]
    assert is_due(MEMBER, deliveries) is due
    assert not is_due(replace(MEMBER, briefed=False), deliveries)


def test_a_prompt_without_words_stays_without() -> None:
    """It is refused as empty later on, which the brief must not hide."""
    assert briefed("Do it") == BRIEF + "Do it"
    assert briefed(" \n") == " \n"
