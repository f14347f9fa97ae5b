"""Which part of a screen is live: the composer, what stands above and below it, the dialog, the title."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from fan.core.model import Line, Look
from fan.core.recipe import ComposerRule, Region, Screen

compiled = cache(re.compile)


class Composer(Struct, frozen=True):
    """The box that takes the prompt: `text` is what stands in it, `ghost` what is only suggested there."""

    text: str
    ghost: str
    first: int
    end: int


class Regions(Struct, frozen=True):
    """The live texts of one look, white space collapsed over line ends (markers wrap at narrow widths).

    `dialog` is what stands below the composer, or the live bottom lines where there is no composer: prose
    that quotes a dialog stands above an open composer and is never looked at.
    """

    composer: Composer | None
    footer: str
    above: str
    dialog: str
    title: str

    def text(self, region: Region) -> str:
        """The text that a rule of `region` is tried on."""
        if region == "composer":
            return self.composer.text if self.composer else ""
        return str(getattr(self, region))


def regions(screen: Screen, look: Look) -> Regions:
    """The live regions of `look` as `screen` describes them."""
    lines = _without_blank_end(look.lines)
    composer = find_composer(screen.composer, lines, look.pane.cursor[1])
    title = look.pane.title.strip()
    if composer is None:
        return Regions(None, "", "", _collapse(_last(lines, screen.lines)), title)
    below = _collapse(lines[composer.end :])
    above = _collapse(_last(lines[: composer.first], screen.above))
    return Regions(composer, below, above, below, title)


def find_composer(rule: ComposerRule, lines: Sequence[Line], cursor_row: int) -> Composer | None:
    """The last box that fits `rule` with little enough below it, or None."""
    row = cursor_row if rule.below else _settled(lines, cursor_row)
    box = _edged(rule, lines) if rule.below else _open_ended(rule, lines, row)
    if box is None:
        return None
    first, end = box
    is_inside = first <= row < end or not rule.cursor
    return _composer(rule, lines, first, end) if is_inside and _count(lines[end:]) <= rule.footer else None


def _edged(rule: ComposerRule, lines: Sequence[Line]) -> tuple[int, int] | None:
    """The first line of the last box with a lower edge, and one past that edge."""
    for end in range(len(lines), 0, -1):
        if compiled(rule.below).search(lines[end - 1].text):
            first = _top(rule, lines, end - 1)
            return None if first is None else (first, end)
    return None


def _top(rule: ComposerRule, lines: Sequence[Line], last: int) -> int | None:
    """The first line of the box above the edge at `last`: nothing but its own further lines lies between."""
    for first in range(last - 1, -1, -1):
        text = lines[first].text
        if _begins(rule, lines, first):
            return first
        if rule.indent and text.strip() and not compiled(rule.indent).match(text):
            return None
    return None


def _open_ended(rule: ComposerRule, lines: Sequence[Line], cursor_row: int) -> tuple[int, int] | None:
    """The last box without an edge: down to a blank line, which the cursor, where it must be inside, has passed."""
    first = next((number for number in range(len(lines) - 1, -1, -1) if _begins(rule, lines, number)), None)
    if first is None:
        return None
    if not rule.cursor:
        return first, _until_blank(lines, first)
    end = _until_blank(lines, max(first, cursor_row))
    further = [line.text for line in lines[first + 1 : end] if line.text.strip()]
    return (first, end) if all(compiled(rule.indent).match(text) for text in further) else None


def _settled(lines: Sequence[Line], row: int) -> int:
    """The cursor's row; in the screen's last gap it has not followed yet when the box above moved up by one."""
    below = lines[row + 1 :]
    is_gap = bool(below) and not lines[row].text.strip() and all(line.text.strip() for line in below)
    return row - 1 if is_gap else row


def _begins(rule: ComposerRule, lines: Sequence[Line], number: int) -> bool:
    """Whether a box begins at this line."""
    if not compiled(rule.prompt).match(lines[number].text):
        return False
    return not rule.above or (number > 0 and compiled(rule.above).search(lines[number - 1].text) is not None)


def _composer(rule: ComposerRule, lines: Sequence[Line], first: int, end: int) -> Composer:
    """The box from `first`; `end` is one past its lower edge, or past its text where it has no edge."""
    body = lines[first : end - 1 if rule.below else end]
    drafts, ghosts = [], []
    for number, line in enumerate(body):
        start = _prefix(rule.prompt if number == 0 else rule.indent, line.text)
        draft, ghost = _split_ghost(line, start, rule.ghost)
        drafts.append(draft)
        ghosts.append(ghost)
    return Composer("\n".join(drafts).strip(), "\n".join(ghosts).strip(), first, end)


def _split_ghost(line: Line, start: int, ghost: Sequence[str]) -> tuple[str, str]:
    """Draft and suggestion of one line. A cursor drawn over a suggestion is one reversed cell before it."""
    text = line.text[start:]
    faded = [
        (max(span.start - start, 0), span.end - start)
        for span in line.spans
        if span.end > start and not set(span.style.split()).isdisjoint(ghost)
    ]
    if not faded:
        return text, ""
    cells = [any(begin <= at < end for begin, end in faded) for at in range(len(text))]
    plain = [char for char, is_faded in zip(text, cells, strict=True) if not is_faded]
    if len("".join(plain).strip()) <= 1 and _reversed_first(line, start):
        return "", text
    draft = "".join(plain)
    return (draft, "") if draft.strip() else ("", text)


def _reversed_first(line: Line, start: int) -> bool:
    """Whether the first cell of the text is drawn as the cursor."""
    return any(span.start <= start < span.end and "reverse" in span.style.split() for span in line.spans)


def _prefix(pattern: str, text: str) -> int:
    """How many characters of `text` are the prompt sign or indent."""
    match = compiled(pattern).match(text) if pattern else None
    return match.end() if match else 0


def _until_blank(lines: Sequence[Line], row: int) -> int:
    """One past the last line of a box that has no edge and reaches down to `row` at least."""
    for number in range(row + 1, len(lines)):
        if not lines[number].text.strip():
            return number
    return max(len(lines), row + 1)


def _without_blank_end(lines: Sequence[Line]) -> Sequence[Line]:
    end = len(lines)
    while end and not lines[end - 1].text.strip():
        end -= 1
    return lines[:end]


def _last(lines: Sequence[Line], count: int) -> list[Line]:
    """The last `count` non-blank lines."""
    return [line for line in lines if line.text.strip()][-count:]


def _count(lines: Sequence[Line]) -> int:
    return sum(1 for line in lines if line.text.strip())


def _collapse(lines: Sequence[Line]) -> str:
    return " ".join(" ".join(line.text for line in lines).split())
