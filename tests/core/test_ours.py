"""Text of ours in a composer is told from somebody's draft."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fan.core.model import Delivery, Phase, Status, Typed
from fan.core.ours import told_apart
from fan.core.reading import COPY_MODE, DRAFT, LEFT, TYPING
from fan.core.recipe import Submit
from tests.core.scene import box, reading

PROMPT = Delivery(1, "m", "Fix the login bug", 1.0, phase=Phase.ECHO, typed=Typed.YES)
STUCK = replace(PROMPT, status=Status.NOT_SENT, phase=Phase.WATCHING)


@pytest.mark.parametrize(
    ("draft", "others", "obstacle"),
    [
        ("Fix the login bug", [PROMPT], TYPING),
        ("Fix the login bug", [STUCK], LEFT),
        ("Fix the login bug", [replace(STUCK, phase=Phase.DONE), PROMPT], TYPING),
        ("Fix the login bug", [], DRAFT),
        ("Fix the login bug", [replace(PROMPT, phase=Phase.WAITING, typed=Typed.NO)], DRAFT),
        ("Fix the login bug", [replace(PROMPT, status=Status.SENT, phase=Phase.DONE)], DRAFT),
        ("Fix the login bug too", [PROMPT], DRAFT),
        ("my own words", [PROMPT, STUCK], DRAFT),
        ("", [PROMPT, STUCK], ""),
    ],
)
def test_whose_it_is(draft: str, others: list[Delivery], obstacle: str) -> None:
    """Ours only where the text was typed, has not been taken, and stands there alone."""
    assert told_apart(reading(box(draft)), others, Submit()).obstacle == obstacle


def test_what_was_left_there_waits_for_the_person() -> None:
    """It uses up no patience of what stands behind it; one under way goes by itself. Another obstacle stays."""
    seen = reading(box("Fix the login bug"))
    assert told_apart(seen, [STUCK], Submit()).waits_for_person
    assert not told_apart(seen, [PROMPT], Submit()).waits_for_person
    assert told_apart(reading(box("Fix the login bug"), in_mode=True), [STUCK], Submit()).obstacle == COPY_MODE
