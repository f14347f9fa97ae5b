"""An event on one line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from fan.core.plain import one_line

if TYPE_CHECKING:
    from fan.core.events import Event


def line(event: Event, name: str, at: datetime) -> str:
    """Number, time, kind, whom it is about, what."""
    if event.kind == "gap":
        return f"{event.seq}  gap: {event.what} events before this one are no longer kept\n"
    parts = [str(event.seq), at.strftime("%Y-%m-%d %H:%M:%S"), event.kind, one_line(name), event.what, event.detail]
    return "  ".join(one_line(part) for part in parts if part) + "\n"
