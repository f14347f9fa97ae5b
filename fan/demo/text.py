"""How many cells text takes, and where it is broken. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

# Spelt out: linters take the sign itself for a mistyped ">".
POINTER = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"


def visible(text: str) -> str:
    """`text` with control characters shown as `^X` and tabs as four blanks; line feeds stay."""
    if text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char == "\t":
        return "    "
    if char != "\n" and unicodedata.category(char) == "Cc":
        return f"^{chr((ord(char) + 64) % 128)}"
    return char


def cells(char: str) -> int:
    """The columns that one character takes: 0, 1 or 2."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """The columns that `text` takes."""
    return len(text) if text.isascii() else sum(map(cells, text))


def wrap(text: str, columns: int) -> list[str]:
    """`text` as rows of at most `columns`; a blank that ends a row is dropped where words allow it."""
    return [row for line in text.split("\n") for row in _rows(line, max(2, columns))]


def _rows(line: str, columns: int) -> Iterator[str]:
    while width(line) > columns:
        cut = _fitting(line, columns)
        blank = line.rfind(" ", 1, cut + 1)
        if blank > 0:
            yield line[:blank]
            line = line[blank + 1 :]
        else:
            yield line[:cut]
            line = line[cut:]
    yield line


def _fitting(line: str, columns: int) -> int:
    used = 0
    for index, char in enumerate(line):
        used += cells(char)
        if used > columns:
            return index
    return len(line)
