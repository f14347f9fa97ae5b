"""How soon a member is looked at again: quick while something is about to happen, slow while all rest. Seconds."""

from __future__ import annotations

from fan.core.model import Delivery, Phase, State
from fan.core.reading import Reading

TYPING = 0.05
SOON = 0.06
PERSON = 0.5
IDLE = 1.0
TOGETHER = 0.01
"""Who is due this soon is looked at along with the others: one question to tmux serves them all."""
HAIR = 0.001
"""Added to a moment that must have come, so that no rounding makes it the one before."""


def pace(reading: Reading, pending: Delivery | None, *, watched: bool, held: bool, settled_in: float) -> float:
    """The time until the next look at a member, whose screen will have stood still long enough in `settled_in`."""
    if pending is None:
        return PERSON if watched else IDLE
    if held or reading.state is State.EXITED:
        return PERSON
    if pending.phase is not Phase.WAITING:
        return TYPING
    if not reading.obstacle:
        return settled_in + HAIR if 0 < settled_in < TYPING else TYPING
    if reading.is_dialog or reading.state is State.LIMITED:
        return PERSON
    return SOON
