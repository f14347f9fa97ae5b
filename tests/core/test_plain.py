"""Foreign text on its way to a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fan.core.plain import one_line, visible, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red]words[/] and [y/N]", "plain [red]words[/] and [y/N]"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("right\u202eleft", "right\\u202eleft"),
        ("a\udcffb", "a\\xffb"),
        ("c1\x9b31m", "c1\\x9b31m"),
        ("hu\u034fman \u2764\ufe0f a\U000e0141", "hu\\u034fman \u2764\ufe0f a\\U000e0141"),
        ("tab\there\nand a line", "tab\there\nand a line"),
        ("Grüße, Привет, 你好 👩\u200d💻", "Grüße, Привет, 你好 👩\u200d💻"),
    ],
)
def test_text_is_shown_letter_by_letter_and_what_a_terminal_obeys_is_written_out(text: str, shown: str) -> None:
    """Brackets and letters stay, control and direction characters become escapes."""
    assert visible(text) == shown


@given(some.text(some.characters()))
def test_no_control_character_survives_on_one_line(text: str) -> None:
    """Whatever the text, one line of it moves no cursor. Red when `_is_hidden` forgets a category."""
    categories = {unicodedata.category(char) for char in one_line(text) if char not in "\u200c\u200d"}
    assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("你好", 4), ("e\u0301", 1), ("", 0)])
def test_width_counts_columns(text: str, columns: int) -> None:
    """Wide characters take two columns, combining ones none."""
    assert width(text) == columns
