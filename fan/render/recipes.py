"""Recipes as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line, visible
from fan.render.cells import NOTHING
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.recipes import Entry, Shown


def entries(found: Sequence[Entry]) -> str:
    """Name, origin, options, versions it was recorded on, and its program or what is wrong."""
    return aligned([_entry(one) for one in found]) if found else ""


def shown(what: Shown) -> str:
    """The recipe's own text."""
    return visible(what.text)


def installed(what: Shown) -> str:
    """The version of its agent that is installed, and what to know of it; empty where that cannot be asked."""
    found = what.installed
    return one_line("; ".join(part for part in (found.version, found.warning) if part)) if found else ""


def _entry(one: Entry) -> tuple[str, ...]:
    options = ", ".join(f"{one.name}:{option}" for option in one.options)
    where = f"not valid: {one_line(one.problem)}" if one.problem else one.program or "not on PATH"
    cells = (one.name, one.title, one.origin, options, ", ".join(one.recorded), where)
    return tuple(one_line(cell) or NOTHING for cell in cells)
