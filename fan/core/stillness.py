"""Rest must hold before anything is typed: two looks 200 ms apart, and 700 ms in which nothing stirred."""

from __future__ import annotations

from msgspec import Struct

APART = 0.2
STILL = 0.7


class Stillness(Struct, frozen=True):
    """Since when a screen has stood still, how many looks (200 ms apart) saw it, and when the last one did."""

    still: str
    since: float
    looks: int
    counted_at: float


def observe(before: Stillness | None, still: str, at: float) -> Stillness:
    """The stillness after one more look whose fingerprint is `still`."""
    if before is None or before.still != still or at < before.since:
        return Stillness(still, at, 1, at)
    if at - before.counted_at < APART:
        return before
    return Stillness(still, before.since, before.looks + 1, at)


def settles_at(stillness: Stillness) -> float:
    """When it will have held long enough to type, if a look taken then finds that nothing has stirred."""
    return stillness.since + STILL


def settled(stillness: Stillness, at: float) -> bool:
    """Whether it has held long enough to type."""
    return stillness.looks >= 2 and at - stillness.since >= STILL
