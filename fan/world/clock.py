"""Time, through one door, so that rules and tests get it passed in."""

from __future__ import annotations

import time
from datetime import datetime


class Clock:
    """The real clock."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def local(self, at: float) -> datetime:
        """That moment as the person's clock shows it."""
        return datetime.fromtimestamp(at).astimezone()

    def pause(self, seconds: float) -> None:
        """Let time pass; for a loop that has nothing to wait on but the next look."""
        time.sleep(seconds)
