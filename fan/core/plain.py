"""Foreign text made safe to show: letter by letter, with what a terminal would obey written out."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
"""Needed inside words of some scripts and inside emoji; they move nothing."""
UNSEEN = frozenset(
    chr(code)
    for codes in (
        (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE0E),  # the last two, FE0E and FE0F, choose between text and emoji
        range(0xFFF0, 0xFFF9),
        range(0xE0100, 0xE01F0),
    )
    for code in codes
)
"""Letters and marks that no terminal shows, by which words can look like others or carry hidden ones."""


def visible(text: str, *, keep: str = "\n\t") -> str:
    """`text` with control, format, direction and unseen characters written as escapes such as `\\x1b`.

    Those in `keep` stay. A byte that was no UTF-8 is shown as that byte.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep or not _is_hidden(char) else _escape(char) for char in text)


def is_text(text: str) -> bool:
    """Whether `text` came whole out of UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def one_line(text: str) -> str:
    """`text` on one line: white space collapsed, the rest visible."""
    return visible(" ".join(text.split()), keep="")


def width(text: str) -> int:
    """How many columns `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.combining(char) or char in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _is_hidden(char: str) -> bool:
    return char not in _JOINERS and (unicodedata.category(char) in _HIDDEN or char in UNSEEN)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
