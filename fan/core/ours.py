"""What stands in a composer: text of ours is nobody's draft."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from fan.core.model import Delivery, Status, Typed
from fan.core.prompt import echo
from fan.core.reading import DRAFT, LEFT, TYPING, Reading
from fan.core.recipe import Submit


def told_apart(reading: Reading, others: Iterable[Delivery], submit: Submit) -> Reading:
    """The reading, its obstacle true of these deliveries too: one under way, or one that was left unsubmitted."""
    if reading.obstacle != DRAFT:
        return reading
    typed = [one for one in others if one.typed is not Typed.NO and one.status is not Status.SENT]
    ours = {one.status for one in typed if echo(reading.composer, one.text, submit) == "ours"}
    if not ours:
        return reading
    return replace(reading, obstacle=TYPING if Status.PENDING in ours else LEFT)
