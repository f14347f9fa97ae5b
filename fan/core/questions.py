"""Questions to the person: what may be offered, and which of it an answer means."""

from __future__ import annotations

from collections.abc import Sequence

from fan.core.plain import one_line
from fan.errors import TooLarge, UsageError

MOST_OPTIONS = 9
LONGEST_OPTION = 200
NOT_DONE = "nothing was asked"


def checked(options: Sequence[str]) -> tuple[str, ...]:
    """The options as they are offered. Raises UsageError, TooLarge."""
    found = tuple(one_line(option) for option in options)
    if not all(found):
        raise UsageError("an option is empty", not_done=NOT_DONE)
    if len({option.casefold() for option in found}) < len(found):
        raise UsageError("two options are the same", not_done=NOT_DONE)
    if len(found) > MOST_OPTIONS or any(len(option) > LONGEST_OPTION for option in found):
        raise TooLarge(
            f"{MOST_OPTIONS} options of {LONGEST_OPTION} characters are the most: the question has room for the rest",
            not_done=NOT_DONE,
        )
    return found


def meant(options: Sequence[str], text: str) -> str:
    """The option that `text` names, by its words or its number from 1; else the text as it is.

    Raises UsageError for a number that no option has: it is a slip, and the first answer is the one that counts.
    """
    told = one_line(text)
    for option in options:
        if option.casefold() == told.casefold():
            return option
    if not options or not (told.isascii() and told.isdigit()):
        return text
    if not 1 <= int(told) <= len(options):
        raise UsageError(
            f"there is no option {told}: options are 1 to {len(options)}, an answer of your own is more",
            not_done="nothing was sent",
        )
    return options[int(told) - 1]
