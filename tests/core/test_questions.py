"""Options of a question to the person, and what an answer means."""

from __future__ import annotations

import pytest

from fan.core.questions import LONGEST_OPTION, MOST_OPTIONS, checked, meant
from fan.errors import FanError, UsageError

OPTIONS = ("Yes, drop it", "No", "2")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1", "Yes, drop it"),
        (" 1\n", "Yes, drop it"),
        ("yes,  DROP it", "Yes, drop it"),
        ("2", "2"),
        ("3", "2"),
        ("4 of them", "4 of them"),
        ("²", "²"),
        ("Yes", "Yes"),
        ("Ask\nme later", "Ask\nme later"),
    ],
)
def test_an_answer_is_an_option_or_free(text: str, answer: str) -> None:
    """A number or the whole words choose, whatever their case; a part of them does not, and stays as it was said."""
    assert meant(OPTIONS, text) == answer


@pytest.mark.parametrize("text", ["0", "4", " 17\n"])
def test_a_number_that_no_option_has_is_a_slip(text: str) -> None:
    """Refused, as the first answer counts; where no options are offered a number is an answer like any other.

    Red when it is taken for words of the person's own: the asker goes on with it.
    """
    with pytest.raises(UsageError, match="options are 1 to 3"):
        meant(OPTIONS, text)
    assert meant((), text) == text


@pytest.mark.parametrize(
    "options",
    [
        ("Yes", ""),
        ("Yes", " \n"),
        ("Yes", "yes"),
        ("x" * (LONGEST_OPTION + 1),),
        tuple(map(str, range(MOST_OPTIONS + 1))),
    ],
)
def test_options_that_cannot_be_offered(options: tuple[str, ...]) -> None:
    """Empty, equal, too long or too many: refused before anything is stored."""
    with pytest.raises(FanError, match="option"):
        checked(options)


def test_options_stand_on_one_line() -> None:
    """Line ends and escapes of a terminal do not get through."""
    assert checked(("a\nb", "\x1b[1mc")) == ("a b", "\\x1b[1mc")
