"""What a verb tells while it runs, on standard error: live on a terminal, a line for each change on a pipe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fan.core.plain import one_line, visible
from fan.render import output
from fan.render.cells import prompt

if TYPE_CHECKING:
    from fan.core.model import Row
    from fan.verbs.progress import Listener


@contextmanager
def shown() -> Iterator[Listener]:
    """A listener for the time of one verb; what it drew live stays as it stood last."""
    if not output.is_terminal(sys.stderr):
        yield Plain()
        return
    from fan.render.live import live

    with live() as listener:
        yield listener


def standing(row: Row) -> str:
    """A member in a few words: its state and where its prompt stands."""
    return f"{one_line(row.state)}{f' ({row.kind})' if row.kind else ''}, prompt {prompt(row)}"


class Plain:
    """Prints a line whenever something changes, from whatever thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, str] = {}

    def say(self, text: str) -> None:
        """One line for the person."""
        self._print(visible(text))

    def warn(self, text: str) -> None:
        """One line that something is not as it should be."""
        self._print(f"warning: {visible(text)}")

    def phase(self, member: str, phase: str) -> None:
        """Where the making of a member stands."""
        self._changed(member, phase)

    def output(self, member: str, line: str) -> None:
        """Nothing: on a pipe lines would only pile up."""

    def rows(self, rows: Sequence[Row]) -> None:
        """The members as they stand."""
        for row in rows:
            self._changed(row.branch, standing(row))

    def _changed(self, member: str, what: str) -> None:
        with self._lock:
            if self._last.get(member) == what:
                return
            self._last[member] = what
            output.aside(f"{one_line(member)}: {one_line(what)}")

    def _print(self, text: str) -> None:
        with self._lock:
            output.aside(text)
