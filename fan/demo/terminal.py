"""The terminal in raw mode: bytes in, bytes out, and what wakes us."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Self

ENDING = (signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Wake:
    """What ended a wait: keys, a change of size, or a signal to end (its number, else 0)."""

    keys: bytes = b""
    resized: bool = False
    ended: int = 0


class Terminal:
    """A context: raw mode and bracketed paste on entry, everything as it was on exit.

    `keylog`, if given, gets every byte that is read, as it is read.
    """

    def __init__(self, keylog: Path | None = None) -> None:
        self._in = sys.stdin.fileno()
        self._out = sys.stdout.fileno()
        self._before: list[Any] = []
        self._gone = False
        self._wake_read, self._wake_write = os.pipe()
        self._log = os.open(keylog, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if keylog else -1

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._in)
        # Not FLUSH: what was typed ahead stays, as with the real ones.
        tty.setraw(self._in, termios.TCSADRAIN)
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGWINCH, signal.SIGCHLD, *ENDING):
            signal.signal(number, _noted)
        self.write("\x1b[?2004h")
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(-1)
        self.write("\x1b[?2004l\x1b[?25h")
        if not self._gone:
            termios.tcsetattr(self._in, termios.TCSADRAIN, self._before)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        columns, rows = os.get_terminal_size(self._out)
        return max(columns, 20), max(rows, 10)

    def write(self, text: str) -> None:
        """Writes all of it; a terminal that is gone takes nothing more, and the next wait says so."""
        data = text.encode("utf-8", "replace")
        try:
            while data and not self._gone:
                data = data[os.write(self._out, data) :]
        except OSError:
            self._gone = True

    def wake(self) -> None:
        """Ends the current or the next wait; for other threads."""
        os.write(self._wake_write, b"\0")

    def wait(self, seconds: float | None, *, deaf: bool = False) -> Wake:
        """Waits for at most `seconds` (None: for ever); `deaf` leaves keys where they are."""
        if self._gone:
            return Wake(ended=signal.SIGHUP)
        sources = [self._wake_read] if deaf else [self._wake_read, self._in]
        ready, _, _ = select.select(sources, [], [], seconds)
        numbers = os.read(self._wake_read, 512) if self._wake_read in ready else b""
        ended = next((number for number in numbers if number in ENDING), 0)
        keys = b""
        if self._in in ready:
            keys = self._read()
            if not keys:
                self._gone = True
                ended = ended or signal.SIGHUP
        return Wake(keys, signal.SIGWINCH in numbers, ended)

    def _read(self) -> bytes:
        """Bytes typed, none when the terminal is gone."""
        try:
            keys = os.read(self._in, 65536)
        except OSError:
            return b""
        if self._log >= 0:
            os.write(self._log, keys)
        return keys


def _noted(_number: int, _frame: FrameType | None) -> None:
    """The wake-up pipe has the number already."""
