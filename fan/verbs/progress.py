"""What a verb tells while it runs; render shows it on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fan.core.model import Row


class Listener(Protocol):
    """Told as things happen, from any thread."""

    def say(self, text: str) -> None:
        """One line for the person."""

    def warn(self, text: str) -> None:
        """One line that something is not as it should be; the work goes on."""

    def phase(self, member: str, phase: str) -> None:
        """The member (by branch) is now at `phase`, such as `worktree`, `filling`, `session`, `waiting`."""

    def output(self, member: str, line: str) -> None:
        """The newest line of what the member's command prints; shown only where the next one replaces it."""

    def rows(self, rows: Sequence[Row]) -> None:
        """The members as they stand, while prompts are being delivered."""
