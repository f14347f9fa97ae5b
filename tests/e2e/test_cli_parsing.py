"""What the words of a command line come to, before any verb runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from fan.cli.app import program
from fan.cli.routing import joined, routed
from fan.cli.spoken import Spoken, called


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["3", "--agent", "a", "do it"], ["N", "--count", "3", "--agent", "a", "do it"]),
        (["0"], ["N", "--count", "0"]),
        (["65", "--json"], ["N", "--count", "65", "--json"]),
        (["--agent", "a", "--prompt", "x"], ["N", "--agent", "a", "--prompt", "x"]),
        (["--agent=a"], ["N", "--agent=a"]),
        (["--", "-h"], ["N", "--", "-h"]),
        (["--version"], ["--version"]),
        (["-h"], ["-h"]),
        (["ls", "3"], ["ls", "3"]),
        (["3x"], ["3x"]),
        ([], []),
    ],
)
def test_a_leading_number_or_option_is_a_start(words: list[str], meant: list[str]) -> None:
    """The start verb is written out where it is only meant, and nowhere else."""
    assert routed(words) == meant


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["--agent", "a", "--", "fix", "-h", "now"], ["--agent", "a", "--", "fix -h now"]),
        (["--", "-h"], ["--", "-h"]),
        (["one text"], ["one text"]),
        (["m", "--"], ["m", "--"]),
        (["--", "a", "--", "b"], ["--", "a -- b"]),
    ],
)
def test_what_follows_two_dashes_is_one_text(words: list[str], meant: list[str]) -> None:
    """Words after `--` are joined, whatever they look like."""
    assert joined(words) == meant


def test_hints_print_fan_as_it_was_called() -> None:
    """Commands in a hint carry the caller's own name for `fan`; other words that contain it stay."""
    by_path = Spoken("/opt/x/fan", as_json=False)
    assert by_path.said("fan ls, then fan keep M") == "/opt/x/fan ls, then /opt/x/fan keep M"
    other = "--name fan/x is worktree-fan of ~/fan and fan"
    assert by_path.said(other) == other
    assert Spoken("fan", as_json=False).said("fan ls") == "fan ls"


def test_the_name_comes_from_the_command_line() -> None:
    """A module run, a path that is not on PATH and a program that is there are told apart."""
    assert called("/x/fan/__main__.py", ["python3", "-m", "fan", "ls"]) == "python3 -m fan"
    assert called("./my dir/fan", [sys.executable]) == "'./my dir/fan'"


def numbers(command: Any) -> Iterator[Any]:
    """The options of a command and of all below it that take a number."""
    for one in getattr(command, "commands", {}).values():
        yield from numbers(one)
    of_numbers = {"S", "N", "SEQ", "DAYS"}
    yield from (one for one in command.params if one.metavar in of_numbers and one.name not in {"subject", "count"})


@pytest.mark.parametrize("wild", ["nan", "inf", "-inf", "1e400", "-1", "99999999999999999999", "x", ""])
def test_no_option_takes_a_number_that_nobody_means(wild: str) -> None:
    """Every option that takes a number is finite, not negative and within 64 bits, whatever verb it is of.

    Goes red for one that has `min` and `max` in the place of one of our own types: no NaN is below a bound.
    """
    found = list(numbers(program()))
    assert len(found) >= 15
    for option in found:
        with pytest.raises(typer.BadParameter):
            option.type.convert(wild, option, None)
