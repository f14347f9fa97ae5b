"""Live progress on a terminal: one line a member, redrawn in place."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fan.core.plain import one_line, visible
from fan.render.progress import standing
from fan.render.table import state_style

if TYPE_CHECKING:
    from fan.core.model import Row

LONGEST = 100


@contextmanager
def live() -> Iterator[Lines]:
    """A listener that draws until the block ends."""
    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")), highlight=False)
    with Live(console=console, auto_refresh=False) as drawing:
        yield Lines(drawing)


class Lines:
    """One line a member; warnings and other lines go above. Told from any thread."""

    def __init__(self, drawing: Live) -> None:
        self._drawing = drawing
        self._lock = threading.Lock()
        self._lines: dict[str, Text] = {}

    def say(self, text: str) -> None:
        """One line for the person, above the members."""
        self._above(Text(visible(text)))

    def warn(self, text: str) -> None:
        """One line that something is not as it should be."""
        self._above(Text(f"warning: {visible(text)}", style="yellow"))

    def phase(self, member: str, phase: str) -> None:
        """Where the making of a member stands."""
        self._draw({member: Text(one_line(phase), style="dim")})

    def output(self, member: str, line: str) -> None:
        """The newest line of a member's command, in the place of its phase."""
        self._draw({member: Text(one_line(line)[:LONGEST], style="dim")})

    def rows(self, rows: Sequence[Row]) -> None:
        """The members as they stand."""
        self._draw({row.branch: Text(standing(row), style=state_style(row)) for row in rows})

    def _above(self, text: Text) -> None:
        with self._lock:
            self._drawing.console.print(text, soft_wrap=True)

    def _draw(self, changed: dict[str, Text]) -> None:
        with self._lock:
            if all(self._lines.get(member) == text for member, text in changed.items()):
                return
            self._lines.update(changed)
            table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
            table.add_column(no_wrap=True)
            table.add_column()
            for member, text in self._lines.items():
                table.add_row(Text(one_line(member)), Text(text.plain, text.style, no_wrap=True, overflow="ellipsis"))
            self._drawing.update(table, refresh=True)
