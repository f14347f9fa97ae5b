"""Writers take turns: SQLite lets whoever asks at the right moment go first, and others wait past its patience."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fan.errors import StoreFailed

PATIENCE = 5.0


class Turn:
    """A queue of the kernel's, at a file beside the store."""

    def __init__(self, folder: Path) -> None:
        file = folder / "turn.lock"
        try:
            self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreFailed(f"{file} cannot be used: {error.strerror}", not_done="nothing was read") from error

    def close(self) -> None:
        """Give the file back; it may have been already."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Our turn, or, where a stopped process does not end its own, a try without one after `PATIENCE` seconds."""
        if not _at_once(self._file):
            _patiently(self._file)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)


def _at_once(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _patiently(file: int) -> None:
    """A blocking call has a fair queue and no end: so it blocks a thread."""
    waiting = threading.Thread(target=fcntl.flock, args=(file, fcntl.LOCK_EX), daemon=True)
    waiting.start()
    waiting.join(PATIENCE)
