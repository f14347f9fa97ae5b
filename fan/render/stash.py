"""The stash as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line
from fan.core.secrets import masked
from fan.render.cells import age
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.stash import Kept


def kept(found: Sequence[Kept], now: float) -> str:
    """A line a file: id, age, bytes, room, its giver's name for it, where it lies."""
    table = [
        (
            one.id,
            f"{age(one.at, now)} ago",
            f"{one.size} bytes",
            one_line(one.room),
            one_line(masked(one.name)),
            "MISSING" if one.missing else one_line(one.path),
        )
        for one in found
    ]
    return aligned(table) if table else "nothing is stashed\n"
