"""Which columns a terminal has room for, and how wide each is: no word is broken for want of room."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fan.core.plain import width

GAP = 2
LONGEST = 24
"""Only a word above this, such as a path in a note, may be broken where its column is folded."""


def fitted(
    head: Sequence[str], rows: Sequence[Sequence[str]], room: int, *, whole: Collection[str], spare: Sequence[str]
) -> dict[str, int]:
    """The width of each column that is shown, by its name; empty when not even the indispensable ones fit.

    Columns in `whole` are never folded. Those in `spare` are shown where their longest words fit as well; the first
    one of them is needed least.
    """
    columns = {name: [name, *(row[index] for row in rows)] for index, name in enumerate(head)}
    least = {name: max(_least(cell, whole=name in whole) for cell in cells) for name, cells in columns.items()}
    most = {name: max(map(width, cells)) for name, cells in columns.items()}
    shown = set(head) - set(spare)
    if _taken(least, shown) > room:
        return {}
    for name in reversed(spare):
        if name in least and _taken(least, {*shown, name}) <= room:
            shown.add(name)
    return _widened({name: least[name] for name in head if name in shown}, most, room - GAP * len(shown))


def _taken(widths: dict[str, int], shown: Collection[str]) -> int:
    return sum(widths[name] + GAP for name in shown)


def _least(cell: str, *, whole: bool) -> int:
    """How narrow a cell may become: its longest word."""
    return width(cell) if whole else max((min(width(word), LONGEST) for word in cell.split()), default=0)


def _widened(least: dict[str, int], most: dict[str, int], room: int) -> dict[str, int]:
    """What room is left goes to the narrowest first of those that want more."""
    widths = dict(least)
    for _ in range(room - sum(least.values())):
        wanting = [name for name in widths if widths[name] < most[name]]
        if not wanting:
            break
        widths[min(wanting, key=widths.__getitem__)] += 1
    return widths
