"""How soon a member is looked at again: quick while something is about to happen, slow while all rest. Seconds."""

from __future__ import annotations

from fan.core.model import Delivery, State
from fan.core.reading import Reading

TYPING = 0.05
SOON = 0.1
PERSON = 0.5
IDLE = 1.0


def pace(reading: Reading, pending: Delivery | None, *, watched: bool, held: bool) -> float:
    """The time until the next look at a member."""
    if pending is None:
        return PERSON if watched else IDLE
    if held or reading.state is State.EXITED:
        return PERSON
    if pending.phase != "waiting" or not reading.obstacle:
        return TYPING
    if reading.is_dialog or reading.state is State.LIMITED:
        return PERSON
    return SOON
