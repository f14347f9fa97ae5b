"""Rows that are shown again and again: in place on a terminal, a line for each change on a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fan.core.model import State
from fan.render import lines, output

if TYPE_CHECKING:
    from fan.core.model import Row

Show = Callable[["Sequence[Row]", str], None]


@contextmanager
def watching(now: Callable[[], float]) -> Iterator[Show]:
    """A function that shows rows, or a hint where there are none, for the time of the block."""
    if output.is_terminal(sys.stdout):
        with _in_place(now) as show:
            yield show
    else:
        yield _Changes(now).show


class _Changes:
    """Prints each line that was not there the last time."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last: set[tuple[str, ...]] = set()

    def show(self, rows: Sequence[Row], hint: str) -> None:  # noqa: ARG002 - nothing to show is no line
        """One line for each row that has changed but in its age."""
        told = {
            row.path: (row.path, row.state, row.kind, row.turn, row.prompt_status, row.prompt_note) for row in rows
        }
        changed = [row for row in rows if told[row.path] not in self._last]
        self._last = set(told.values())
        if changed:
            output.result(lines.rows(changed, self._now()))


@contextmanager
def _in_place(now: Callable[[], float]) -> Iterator[Show]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from fan.core.plain import visible
    from fan.render.table import cut, grouped

    console = Console(no_color=bool(os.environ.get("NO_COLOR")), highlight=False)
    with Live(console=console, screen=True, auto_refresh=False) as drawing:

        def show(rows: Sequence[Row], hint: str) -> None:
            shown = cut(grouped(rows, now()), console, _below(rows)) if rows else Text(visible(hint))
            drawing.update(shown, refresh=True)

        yield show


def _below(rows: Sequence[Row]) -> str:
    """What is said where a window is too short for all rows: whom the person would miss."""
    waiting = sum(row.state == State.NEEDS_INPUT for row in rows)
    ask = "1 member asks" if waiting == 1 else f"{waiting} members ask"
    return f"this window is too short for all; {ask if waiting else 'nobody asks'}"
