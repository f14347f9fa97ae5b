"""Writers take turns: SQLite lets whoever asks at the right moment go first, and others wait past its patience."""

from __future__ import annotations

import fcntl
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fan.errors import StoreFailed

PATIENCE = 5.0
"""Seconds, as many as SQLite's own. A turn lasts milliseconds; on a busy machine one of 32 writers waited 0.7 s."""
LOOK_AGAIN = 0.5
"""Seconds to the next look though nobody rang: whoever was killed within its turn rings nobody."""


class Turn:
    """A lock of the kernel's at a file beside the store, left by whoever dies, and a bell for those who wait for it:
    nothing but a signal ends a wait for the lock itself.

    A process that was stopped within its turn holds nobody up for ever: after `PATIENCE` the others go on without
    one, and SQLite alone says who writes.
    """

    def __init__(self, folder: Path) -> None:
        file, bell = folder / "turn.lock", folder / "turn.bell"
        try:
            self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with suppress(FileExistsError):
                os.mkfifo(bell, 0o600)
            self._bell = os.open(bell, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise StoreFailed(f"{file} cannot be used: {error.strerror}", not_done="nothing was read") from error

    def close(self) -> None:
        """Give the files back; they may have been already."""
        if self._file >= 0:
            os.close(self._file)
            os.close(self._bell)
        self._file = -1

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Our turn, or the end of our patience."""
        is_free = self._take()
        is_ours = is_free or self._wait()
        try:
            yield
        finally:
            if is_ours:
                fcntl.flock(self._file, fcntl.LOCK_UN)
                with suppress(BlockingIOError):
                    os.write(self._bell, b".")
                if not is_free:
                    os.sched_yield()  # where some waited, others do: whoever was rung runs before we ask again

    def _take(self) -> bool:
        """Whether it is ours now. The bell falls silent first: it rings again when whoever has the turn leaves it."""
        with suppress(BlockingIOError):
            os.read(self._bell, 64)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait(self) -> bool:
        """Whether our turn came in time."""
        until = time.monotonic() + PATIENCE
        with _asleep(self._bell) as sleep:
            while (left := until - time.monotonic()) > 0:
                sleep(min(left, LOOK_AGAIN))
                if self._take():
                    return True
        return False


@contextmanager
def _asleep(bell: int) -> Iterator[Callable[[float], object]]:
    """What sleeps until the bell rings. Whoever has slept longest is woken alone, where the system can do that."""
    if sys.platform == "linux":
        with select.epoll() as those:
            those.register(bell, select.EPOLLIN | select.EPOLLEXCLUSIVE)
            yield those.poll
    else:
        yield lambda seconds: select.select([bell], [], [], seconds)
