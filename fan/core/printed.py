"""What a pane has printed between two captures of it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

KNOWN = 3
"""Lines that must stand together to be known again where what came before them has left the history."""


def printed(before: Sequence[str], after: Sequence[str]) -> str:
    """The lines of `after` that were not there `before`, without what stands below them unchanged."""
    old, new = _without_end(before), _without_end(after)
    begin = _common(old, new)
    known = any(old[:begin])
    end = _common(old[begin if known else 0 :][::-1], new[begin if known else 0 :][::-1])
    if not known:
        same = SequenceMatcher(
            None, old[: len(old) - end], new[: len(new) - end], autojunk=False
        ).find_longest_match()
        begin = same.b + same.size if same.size >= KNOWN else 0
    return "\n".join(new[begin : len(new) - end]).strip("\n")


def _without_end(lines: Sequence[str]) -> list[str]:
    """Without blanks at the ends of lines and blank lines at the end."""
    return "\n".join(line.rstrip() for line in lines).rstrip("\n").split("\n")


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines they begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
