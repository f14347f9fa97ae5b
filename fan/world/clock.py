"""Time, through one door, so that rules and tests get it passed in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class Clock:
    """The real clock."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def local(self, at: float) -> datetime:
        """That moment as the person's clock shows it."""
        return datetime.fromtimestamp(at).astimezone()

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Raises TimeoutError from within the block when its time is up; for the main thread only.

        It interrupts what computes, a regular expression too: Python's look for signals while they search.
        """

        import signal

        def up(_number: int, _frame: FrameType | None) -> None:
            raise TimeoutError

        before = signal.signal(signal.SIGALRM, up)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def pause(self, seconds: float) -> None:
        """Let time pass; for a loop that has nothing to wait on but the next look."""
        time.sleep(seconds)
