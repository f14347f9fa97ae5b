"""Paints frames on the normal screen: the talk scrolls away above, the live region is rewritten."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from fan.demo.draw import Entry, Frame, bare, talk
from fan.demo.text import width

KEPT = 400


class Screen:
    """Remembers what it painted, so that nothing is written when nothing changed."""

    def __init__(self, write: Callable[[str], None], size: tuple[int, int]) -> None:
        self._write = write
        self.size = size
        self._talk: deque[Entry] = deque(maxlen=KEPT)
        self._fresh: list[str] = []
        self._frame: Frame | None = None
        self._title = ""

    def say(self, entry: Entry) -> None:
        """Adds an entry to the talk; it shows with the next paint."""
        self._talk.append(entry)
        self._fresh += talk(entry, self.size[0])

    def title(self, text: str) -> None:
        """Names the terminal (OSC 0)."""
        if text != self._title:
            self._title = text
            self._write(f"\x1b]0;{text}\x07")

    def paint(self, frame: Frame) -> None:
        """Writes what was said since, and the live region, in one piece."""
        if frame == self._frame and not self._fresh:
            return
        up = self._frame.cursor[0] if self._frame else 0
        self._write("\x1b[?25l" + _up(up) + "\r" + self._rows(self._fresh, frame))
        self._fresh, self._frame = [], frame

    def resize(self, size: tuple[int, int], frame: Callable[[], Frame]) -> None:
        """Paints all anew: after a change of size the terminal has moved rows by rules of its own."""
        self.size = size
        self._frame = drawn = frame()
        rows = [row for entry in self._talk for row in talk(entry, size[0])]
        room = max(0, size[1] - len(drawn.rows))
        self._fresh = []
        self._write("\x1b[?25l\x1b[H\x1b[2J" + self._rows(rows[len(rows) - min(room, len(rows)) :], drawn))

    def leave(self, last: str = "") -> None:
        """Takes the live region away and leaves the cursor where a shell may go on."""
        up = self._frame.cursor[0] if self._frame else 0
        lines = "".join(f"{row}\r\n" for row in [*self._fresh, *filter(None, [last])])
        self._write(f"{_up(up)}\r\x1b[J{lines}\x1b[?25h")

    def _rows(self, fresh: list[str], frame: Frame) -> str:
        columns = self.size[0]
        body = "\r\n".join(_whole(row, columns) for row in (*fresh, *frame.rows))
        row, column = frame.cursor
        right = f"\x1b[{column}C" if column else ""
        return f"{body}\x1b[J{_up(len(frame.rows) - 1 - row)}\r{right}\x1b[?25h"


def _whole(row: str, columns: int) -> str:
    return row if width(bare(row)) >= columns else f"{row}\x1b[K"


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows else ""
