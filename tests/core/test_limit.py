"""When a usage limit ends."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.limit import ends_at

SAID = datetime(2026, 11, 30, 14, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("resets 3pm", (30, 15, 0)),
        ("resets 3:45pm (Europe/Berlin)", (30, 15, 45)),
        ("until 17:00", (30, 17, 0)),
        ("resets 9am", (31, 9, 0)),
        ("12am", (31, 0, 0)),
        ("12:15 pm", (31, 12, 15)),
        ("try again in 2h 15m", (30, 16, 45)),
        ("try again in 45 minutes", (30, 15, 15)),
        ("resets Dec 3, 9am", (33, 9, 0)),
    ],
)
def test_the_end_is_read_as_the_next_such_moment(words: str, end: tuple[int, int, int]) -> None:
    """A time of day means the next one after it was said, a span counts from then, a date is that date."""
    day, hour, minute = end
    expected = SAID.replace(hour=hour, minute=minute) + timedelta(days=day - 30)
    assert ends_at(words, SAID) == expected


@pytest.mark.parametrize("words", ["", "soon", "resets 3", "at 99:99", "Feb 31, 9am", "model gpt-5"])
def test_what_does_not_tell_is_none(words: str) -> None:
    """No time is guessed from a bare number or an impossible date."""
    assert ends_at(words, SAID) is None


@given(st.text(max_size=40))
def test_it_never_fails_and_never_names_the_past(words: str) -> None:
    """Whatever an agent writes, the answer is none or a moment that is not long past."""
    end = ends_at(words, SAID)
    assert end is None or end > SAID - timedelta(days=181)
