"""Rows in the way that suits standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line
from fan.render import lines
from fan.render.output import is_terminal

if TYPE_CHECKING:
    from fan.core.model import Row
    from fan.verbs.start import Started

LONGEST = 60
"""What is shown of a prompt that is only planned."""


def rows(found: Sequence[Row], now: float) -> str:
    """A table on a terminal, plain lines on a pipe; nothing for no rows."""
    if not found:
        return ""
    if not is_terminal(sys.stdout):
        return lines.rows(found, now)
    from fan.render import table

    return table.rows(found, now)


def planned(what: Started) -> str:
    """What a start would make: branch, agent, folder and how its prompt begins, a line a member."""
    both = zip(what.members, what.prompts, strict=True)
    return lines.aligned([(one_line(row.branch), row.agent, one_line(row.path), _begins(text)) for row, text in both])


def _begins(text: str) -> str:
    first, *more = text.strip().splitlines() or [""]
    shown = one_line(first)
    return f"{shown[:LONGEST]}..." if more or len(shown) > LONGEST else shown
