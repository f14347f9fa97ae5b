"""A verb's listener for tests that run one in their own process."""

from __future__ import annotations

from collections.abc import Sequence

from fan.core.model import Row


class Silent:
    """Shows nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def warn(self, text: str) -> None:
        """Nothing."""

    def phase(self, member: str, phase: str) -> None:
        """Nothing."""

    def output(self, member: str, line: str) -> None:
        """Nothing."""

    def rows(self, rows: Sequence[Row]) -> None:
        """Nothing."""
