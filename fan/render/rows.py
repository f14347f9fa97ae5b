"""Rows in the way that suits standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.render import lines
from fan.render.output import is_terminal

if TYPE_CHECKING:
    from fan.core.model import Row


def rows(found: Sequence[Row], now: float) -> str:
    """A table on a terminal, plain lines on a pipe; nothing for no rows."""
    if not found:
        return ""
    if not is_terminal(sys.stdout):
        return lines.rows(found, now)
    from fan.render import table

    return table.rows(found, now)
