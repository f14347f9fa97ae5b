"""Rows as plain lines for a pipe: one line a row, columns two blanks apart. No rich here: it costs 60 ms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line, width
from fan.render.cells import NOTHING, cells, in_order, repo_name

if TYPE_CHECKING:
    from fan.core.model import Row


WIDEST = 60
"""What a column is padded to at most: a longer cell, such as a note, pushes its own line alone."""


def aligned(table: Sequence[Sequence[str]]) -> str:
    """The table's lines, every column as wide as its widest cell of at most `WIDEST`."""
    columns = zip(*table, strict=True)
    widths = [max((wide for cell in column if (wide := width(cell)) <= WIDEST), default=0) for column in columns]
    return "".join(_line(row, widths) for row in table)


def rows(found: Sequence[Row], now: float) -> str:
    """Repository, group, branch, agent, state, turn, prompt, work, session, id of each row."""
    table = [
        (repo_name(row.repo) or NOTHING, one_line(row.group) or NOTHING, *cells(row, now)) for row in in_order(found)
    ]
    return aligned(table)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)]
    return "  ".join(padded).rstrip() + "\n"
