"""Numbers on the command line: finite, not negative, and no larger than the record can hold or anybody means."""

from __future__ import annotations

import typer

YEAR = 365 * 86_400
CENTURY = 36_500
LARGEST = 2**63 - 1


def seconds(given: str | float) -> float:
    """A time of at most a year. Raises BadParameter."""
    return _within(given, YEAR, "seconds")


def days(given: str | float) -> float:
    """A time of at most a century. Raises BadParameter."""
    return _within(given, CENTURY, "days")


def position(given: str | int) -> int:
    """A number in a row, from 0 on. Raises BadParameter."""
    return _whole(given, 0)


def count(given: str | int) -> int:
    """How many, 1 at least. Raises BadParameter."""
    return _whole(given, 1)


def _within(given: str | float, most: int, what: str) -> float:
    try:
        number = float(given)
    except ValueError:
        number = -1
    if 0 <= number <= most:  # which no NaN is
        return number
    raise typer.BadParameter(f"`{given}` is no number of {what} from 0 to {most}")


def _whole(given: str | int, least: int) -> int:
    try:
        number = int(given)
    except ValueError:
        number = -1
    if least <= number <= LARGEST:
        return number
    raise typer.BadParameter(f"`{given}` is no whole number from {least} to {LARGEST}")
