"""The stash as lines."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.fence import fenced
from fan.core.plain import one_line
from fan.core.secrets import masked
from fan.render.cells import age
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.stash import Kept


def kept(found: Sequence[Kept], now: float) -> str:
    """A line a file: id, age, bytes, room, its giver's name for it, where it lies; between fence lines, for the names
    are whatever agents have called their files."""
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
    if not table:
        return "nothing is stashed\n"
    return fenced(aligned(table), "those who put these files here", secrets.token_hex(4))
