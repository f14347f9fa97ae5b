"""Writers take turns: SQLite lets whoever asks at the right moment go first, and others wait past its patience."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fan.errors import StoreFailed


class Turn:
    """A queue of the kernel's, at a file beside the store: fair, and left by whoever dies.

    It has no time limit. A process that was stopped within its turn holds up the others, as it would in SQLite.
    """

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
        """Our turn."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
