"""Screens as lines with styles."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.model import Line, Span
from fan.core.screen import parse

PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12)
CODES = ["0", "1", "2", "3", "4", "7", "22", "27", "31", "38;5;246", "38;2;1;2;3", "39", "44", "48;5;9", "97"]
SGR = st.lists(st.sampled_from([*CODES, ""]), max_size=3).map(lambda codes: f"\x1b[{';'.join(codes)}m")
OTHER = st.sampled_from(
    ["\x1b]8;id=1;https://x.y/z\x1b\\", "\x1b]8;;\x1b\\", "\x1b]0;t\x07", "\x1b(B", "\x1b[?25l", "\x0e", "\x0f"]
)
ROW = st.lists(st.one_of(PRINTABLE, SGR, OTHER), max_size=8)
ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\(B|\x1b\[[?0-9;]*[a-zA-Z]|[\x0e\x0f]")


def styled(capture: str) -> list[tuple[str, str]]:
    """The styled pieces of a capture of one line."""
    (line,) = parse(capture)
    return [(line.text[span.start : span.end], span.style) for span in line.spans]


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("2", "dim"),
        ("7", "reverse"),
        ("1;2", "bold dim"),
        ("2;1;22", ""),
        ("7;27", ""),
        ("31", "fg1"),
        ("97", "fg15"),
        ("38;5;246", "fg246"),
        ("38:5:246", "fg246"),
        ("38;2;170;187;204", "fgAABBCC"),
        ("38:2::170:187:204", "fgAABBCC"),
        ("38:2:170:187:204", "fgAABBCC"),
        ("38;5;9;39", ""),
        ("48;5;2", ""),
        ("48;5;2;2", "dim"),
        ("48;2;1;2;7;7", "reverse"),
        ("58;5;1;38;5;3", "fg3"),
        ("38;5", ""),
        ("38;2;1;2", ""),
        ("38;9;1", "bold"),
        ("3;4;9;21;53", ""),
        ("44;107", ""),
        ("2;38;5;7;0", ""),
        ("2;38;5;7;", ""),
        ("7;31;2;1", "bold dim reverse fg1"),
    ],
)
def test_each_style_has_its_word(codes: str, style: str) -> None:
    """An SGR sequence gives the words of what matters, in one order, and takes the numbers of a colour along."""
    assert styled(f"\x1b[{codes}mx\x1b[0m y") == ([("x", style)] if style else [])


def test_a_style_lasts_over_the_line_end() -> None:
    """tmux says a style once: the next row, empty rows between, and plain-looking rows have it too."""
    lines = parse("\x1b[2mone\n\ntwo\x1b[0m three\nfour\n")
    assert lines == (
        Line("one", (Span(0, 3, "dim"),)),
        Line(""),
        Line("two three", (Span(0, 3, "dim"),)),
        Line("four"),
    )


def test_trailing_blanks_go_and_others_stay() -> None:
    """Blanks at a line's end go with their styles; a no-break space after a composer's mark stays."""
    assert parse("  a  \x1b[7m  \x1b[0m \n>\u00a0\n") == (Line("  a"), Line(">\u00a0"))
    assert styled("a \x1b[2mb  \x1b[0m") == [("b", "dim")]


def test_links_and_other_escapes_are_dropped() -> None:
    """Hyperlinks leave their text, character sets and unknown or broken sequences nothing."""
    assert parse("\x1b]8;;https://a.b/c\x1b\\link\x1b]8;;\x07 \x1b(Bx\x0e\x0f\x1b[?25h\x1b[Ky\x1b") == (
        Line("link xy"),
    )
    assert parse("a\x1b]0;never ended") == (Line("a"),)


def test_neighbours_of_one_style_are_one_span() -> None:
    """An escape that changes nothing does not cut a span; wide characters count as one."""
    assert parse("\x1b[2m漢\x1b[4m字\x1b[24mx") == (Line("漢字x", (Span(0, 3, "dim"),)),)


@given(st.lists(ROW, min_size=1, max_size=6))
def test_text_is_what_stands_between_escapes(rows: list[list[str]]) -> None:
    """For any mixture, text is the rows without escapes, and spans are in order, apart and inside it."""
    capture = "\n".join("".join(row) for row in rows) + "\n"
    lines = parse(capture)
    assert [line.text for line in lines] == [ESCAPES.sub("", "".join(row)).rstrip(" ") for row in rows]
    for line in lines:
        ends = [0, *(edge for span in line.spans for edge in (span.start, span.end)), len(line.text)]
        assert ends == sorted(ends)
        assert all(span.start < span.end and span.style for span in line.spans)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_is_too_odd(text: str) -> None:
    """Anything at all is read, a row a line feed, and no escape character is left."""
    lines = parse(f"{text}\n")
    assert len(lines) == text.count("\n") + 1
    assert not any("\x1b" in line.text for line in lines)


def test_a_hundred_screens_take_no_time() -> None:
    """A hundred different full screens, every row styled, are read in far less than a second."""
    row = "\x1b[38;5;246m{0}:{1}\x1b[39m text \x1b[2mghost\x1b[0m" + " more words" * 17
    screens = ["\n".join(row.format(n, line) for line in range(50)) for n in range(100)]
    began = time.process_time()
    for screen in screens:
        parse(screen)
    assert time.process_time() - began < 0.5
