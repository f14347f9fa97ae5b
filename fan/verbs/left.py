"""What a verb that deals with several had to leave as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from fan.errors import FanError


@dataclass(frozen=True, slots=True)
class Left:
    """One that stays as it was, and why: a member by its session or name, an archive by its id."""

    session: str
    reason: str

    @classmethod
    def because(cls, name: str, error: FanError) -> Self:
        """With all that a refusal says: what was refused, what was not done, the next command."""
        parts = (error.message, error.not_done, error.hint and f"next: {error.hint}")
        return cls(name, "; ".join(part for part in parts if part))


def exit_code(done: Sequence[object], left: Sequence[Left]) -> int:
    """0 all of it happened, 1 none of it, 5 some."""
    if not left:
        return 0
    return 5 if done else 1
