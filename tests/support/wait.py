"""Waiting for what will be true soon."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(condition: Callable[[], object], *, within: float = 5.0, every: float = 0.02) -> None:
    """Returns once `condition` holds; fails after `within` seconds."""
    until = time.monotonic() + within
    while not condition():
        assert time.monotonic() < until, f"not true within {within} s"
        time.sleep(every)


def window(seconds: float) -> None:
    """A fixed time in which something must not happen; for nothing but to show that it does not."""
    time.sleep(seconds)
