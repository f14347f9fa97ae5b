"""The live region at the bottom as rows of text with colours. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fan.demo.chat import COMMANDS, Chat
from fan.demo.menu import RULE, Dialog
from fan.demo.text import POINTER, cells, visible, width, wrap

DIM = "2"
GREY = "38;5;246"
ACCENT = "38;5;174"
BOX = f"{POINTER}\u00a0"
GHOST = 'Try "explain this folder"'
_SGR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows, none wider than the screen, and the cursor's row and column among them."""

    rows: tuple[str, ...]
    cursor: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """A paragraph of the talk: `marker` stands before its first row."""

    text: str
    marker: str = ""
    style: str = ""


def paint(text: str, style: str) -> str:
    """`text` in a style (the numbers of an SGR sequence), plain for none."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def bare(row: str) -> str:
    """`row` without its colours."""
    return _SGR.sub("", row)


def talk(entry: Entry, columns: int) -> list[str]:
    """An entry's rows, one blank row after them."""
    lead = f"{entry.marker} " if entry.marker else ""
    rows = wrap(visible(entry.text), columns - width(lead) - 1)
    leads = [lead, *(" " * width(lead) for _ in rows[1:])]
    return [*(paint(first + row, entry.style) for first, row in zip(leads, rows, strict=True)), ""]


def blank() -> Frame:
    """Nothing drawn yet."""
    return Frame(("",), (0, 0))


def dialog(asked: Dialog, columns: int) -> Frame:
    """A dialog in the place of the composer; the cursor stays below it."""
    rows = [paint(RULE * columns, GREY), *(_cut(visible(row), columns) for row in asked.rows()), ""]
    return Frame(tuple(rows), (len(rows) - 1, 0))


def chat(box: Chat, above: Sequence[str], footer: str, size: tuple[int, int]) -> Frame:
    """`above`, the composer between its rules, its list of commands or the footer."""
    columns, height = size
    limit = max(1, height - len(above) - 8)
    rows, (row, column) = box.composer.rows(columns - len(BOX) - 1, limit)
    rule = paint(RULE * columns, GREY)
    head = [_cut(line, columns) for line in above]
    return Frame(
        (*head, rule, *_box(rows, columns), rule, *_below(box, footer, columns)),
        (len(head) + 1 + row, len(BOX) + column),
    )


def _box(rows: list[str], columns: int) -> list[str]:
    if rows == [""]:
        return [BOX + paint(GHOST, DIM)]
    return [_cut((BOX if index == 0 else "  ") + row, columns) for index, row in enumerate(rows)]


def _below(box: Chat, footer: str, columns: int) -> list[str]:
    listed = box.listed
    if not listed:
        return [paint(_cut(f"  {footer}", columns), GREY)]
    return [
        paint(_cut(f"  {name:8} {COMMANDS[name]}", columns), ACCENT if index == box.marked else GREY)
        for index, name in enumerate(listed)
    ]


def _cut(text: str, columns: int) -> str:
    """`text` cut to leave the last column free: erasing from a full row would take its last cell."""
    used = 0
    for index, char in enumerate(text):
        used += cells(char)
        if used >= columns:
            return text[:index]
    return text
