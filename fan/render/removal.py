"""What went, what stays and why, what is back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line, visible
from fan.render import output

if TYPE_CHECKING:
    from fan.core.model import Row
    from fan.verbs.keep import Kept
    from fan.verbs.left import Left
    from fan.verbs.removing import Removed
    from fan.verbs.undo import Undone
    from fan.world.git import Merged


def kept(what: Kept) -> str:
    """The winner first, then its merge, then what went, or the line that merges the winner."""
    _aside(what.left, what.notes)
    merge = f"to merge: {visible(what.merge)}\n" if what.merge else ""
    merged = _merged(what.merged) if what.merged else ""
    return _line("kept", what.kept) + merged + _lines("removed", what.removed) + merge


def _merged(what: Merged) -> str:
    if what.how == "nothing":
        return f"merged nothing: {one_line(what.into)} has all of it already, at {what.commit[:10]}\n"
    return f"merged into {one_line(what.into)}: {what.commit[:10]} ({what.how})\n"


def removed(what: Removed) -> str:
    """A line for each that went."""
    _aside(what.left, what.notes)
    return _lines("removed", what.removed)


def undone(what: Undone) -> str:
    """A line for each that is back."""
    _aside(what.left, what.notes)
    return _lines("restored", what.restored)


def _aside(left: Sequence[Left], notes: Sequence[str]) -> None:
    for note in notes:
        output.aside(visible(note))
    for one in left:
        output.aside(f"warning: {one_line(one.session)} stays: {visible(one.reason)}")


def _lines(what: str, rows: Sequence[Row]) -> str:
    return "".join(_line(what, row) for row in rows)


def _line(what: str, row: Row) -> str:
    return f"{what} {one_line(row.branch)} ({one_line(row.path)})\n"
