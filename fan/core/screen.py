"""What `capture-pane -e` prints, as lines of text with the styles that matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from fan.core.model import Line, Span

_ESCAPE = (
    r"\x1b\[([0-9;:]*)m"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\|(?=\x1b)|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x1b"
    r"|[\x0e\x0f]"
)

_WORDS = {"1": "bold", "2": "dim", "7": "reverse"}
_ENDS = {"22": ("bold", "dim"), "27": ("reverse",), "39": ("fg",)}
_BASES = {"3": 0, "9": 8}

Style = tuple[str, ...]
_PLAIN: Style = ()


def parse(capture: str) -> tuple[Line, ...]:
    """The rows of a capture, top to bottom, escapes dropped; a style lasts over the end of its row.

    Styles are `bold`, `dim`, `reverse` and the foreground as `fg` with a palette number or six hex digits.
    """
    lines: list[Line] = []
    style = _PLAIN
    for row in capture.removesuffix("\n").split("\n"):
        if not style and _is_plain(row):
            lines.append(Line(row.rstrip(" ")))
        else:
            line, style = _styled(row, style)
            lines.append(line)
    return tuple(lines)


def _is_plain(row: str) -> bool:
    return "\x1b" not in row and "\x0e" not in row and "\x0f" not in row


# Most rows of a screen were there at the last look.
@lru_cache(maxsize=4096)
def _styled(row: str, style: Style) -> tuple[Line, Style]:
    text = ""
    spans: list[Span] = []
    pieces = iter(re.split(_ESCAPE, row))
    for piece in pieces:
        if piece and style:
            spans.append(_span(spans, len(text), len(text) + len(piece), " ".join(style)))
        text += piece
        codes = next(pieces, None)
        if codes is not None:
            style = _after(style, codes)
    text = text.rstrip(" ")
    return Line(text, tuple(_clipped(spans, len(text)))), style


def _span(spans: list[Span], start: int, end: int, style: str) -> Span:
    if spans and spans[-1].end == start and spans[-1].style == style:
        start = spans.pop().start
    return Span(start, end, style)


def _clipped(spans: list[Span], width: int) -> Iterator[Span]:
    for span in spans:
        if span.end <= width:
            yield span
        elif span.start < width:
            yield Span(span.start, width, span.style)


@lru_cache(maxsize=4096)
def _after(style: Style, codes: str) -> Style:
    """The style after one SGR sequence; its parameters are separated by `;`, sub-parameters by `:`."""
    words = {"fg" if word.startswith("fg") else word: word for word in style}
    parts = (codes or "0").split(";")
    while parts:
        code = parts.pop(0)
        if code in ("", "0", "00"):
            words.clear()
        elif code in _WORDS:
            words[_WORDS[code]] = _WORDS[code]
        elif code in _ENDS:
            for word in _ENDS[code]:
                words.pop(word, None)
        elif code.startswith(("38", "48", "58")):
            colour = _extended(code, parts)
            if code.startswith("38") and colour:
                words["fg"] = f"fg{colour}"
        elif len(code) == 2 and code[0] in _BASES and code[1] in "01234567":
            words["fg"] = f"fg{_BASES[code[0]] + int(code[1])}"
    return tuple(words[word] for word in ("bold", "dim", "reverse", "fg") if word in words)


def _extended(code: str, parts: list[str]) -> str:
    """The colour of a 38, 48 or 58, taking what belongs to it from `parts`; empty when it is not whole."""
    if ":" in code:
        given = code.split(":")[1:]
    else:
        given = parts[: {"5": 2, "2": 4}.get(parts[0] if parts else "", 0)]
        del parts[: len(given)]
    numbers = [int(number) for number in given if number.isdecimal()]
    match numbers:
        case [5, number]:
            return str(number)
        case [2, *rest] if len(rest) >= 3 and max(rest) < 256:
            # With colons a colour space may stand before red, green and blue.
            return "".join(f"{number:02X}" for number in rest[-3:])
    return ""
