"""The pure parts: bytes to keys, keys to a draft."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from fan.demo.chat import Chat, Command, Submit
from fan.demo.composer import Composer
from fan.demo.keys import Decoder, Event, Key, Paste, Text
from fan.demo.text import visible, width, wrap


def events_of(*reads: bytes) -> list[Event]:
    decoder = Decoder()
    return [event for read in reads for event in decoder.feed(read)]


def draft(*events: Event) -> Composer:
    composer = Composer()
    for event in events:
        composer.on(event)
    return composer


PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@given(PRINTABLE, PRINTABLE, st.data())
def test_the_same_bytes_mean_the_same_however_they_are_read(typed: str, pasted: str, data: st.DataObject) -> None:
    """Typed text, keys and a paste come out whole wherever the reads are cut."""
    stream = typed.encode() + b"\x1b[D" + b"\x1b[200~" + pasted.encode() + b"\x1b[201~\r"
    cut = data.draw(st.integers(1, len(stream) - 1))
    events = events_of(stream[:cut], stream[cut:])
    assert "".join(event.text for event in events if isinstance(event, Text)) == typed
    assert [event for event in events if not isinstance(event, Text)] == [Key("left"), Paste(pasted), Key("enter")]


def test_a_lone_escape_is_a_key_only_when_nothing_follows() -> None:
    """An ESC waits for its sequence; settled, it is the Esc key."""
    decoder = Decoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.lone_escape
    assert decoder.settle() == [Key("esc")]
    assert not decoder.lone_escape


def test_an_open_paste_is_not_settled() -> None:
    """A pause inside a paste leaves it a paste: its Enters must never become keys."""
    decoder = Decoder()
    assert decoder.feed(b"\x1b[200~a\r") == []
    assert decoder.settle() == []
    assert decoder.feed(b"b\x1b[201~") == [Paste("a\nb")]


def test_editing_in_the_middle() -> None:
    """Arrows, Ctrl-A, Ctrl-E, Ctrl-U and backspace work on the line that the cursor is in."""
    composer = draft(Text("one"), Key("newline"), Text("two"), Key("home"), Text("x"), Key("right"), Key("backspace"))
    assert composer.text == "one\nxwo"
    composer.on(Key("end"))
    composer.on(Key("kill"))
    assert composer.text == "one\n"


def test_a_long_paste_is_a_stub_and_still_whole() -> None:
    """More than ten lines show as one stub, which backspace takes away as a whole."""
    long = "\n".join(map(str, range(11)))
    composer = draft(Paste(long), Text("!"))
    assert composer.rows(80, 5)[0] == ["[Pasted text #1 +10 lines]!"]
    assert composer.text == long + "!"
    composer.on(Key("backspace"))
    composer.on(Key("backspace"))
    assert composer.text == ""


def test_ten_lines_are_shown_as_they_are() -> None:
    """The stub begins above ten lines and above 2000 characters, not at them."""
    ten = "\n".join("line" for _ in range(10))
    assert draft(Paste(ten)).rows(80, 20)[0] == ten.split("\n")
    assert "Pasted" not in draft(Paste("x" * 2000)).rows(80, 50)[0][0]
    assert "Pasted" in draft(Paste("x" * 2001)).rows(80, 50)[0][0]


@given(st.text(st.sampled_from("ab \n漢é"), max_size=60), st.integers(4, 30), st.integers(1, 6))
@example("\n" * 10, 4, 1)
def test_the_cursor_is_always_in_the_rows_that_are_shown(text: str, columns: int, limit: int) -> None:
    """Whatever the draft, its visible rows fit the box and hold the cursor."""
    rows, (row, column) = draft(Paste(text)).rows(columns, limit)
    assert len(rows) <= limit
    assert 0 <= row < len(rows)
    assert column == width(rows[row]) or column <= columns
    assert all(width(shown) <= columns for shown in rows)


@given(st.text(max_size=80), st.integers(2, 40))
def test_wrapped_rows_fit(text: str, columns: int) -> None:
    """No row is wider than the screen, and no letter is lost."""
    clean = visible(text)
    rows = wrap(clean, columns)
    assert all(width(row) <= columns for row in rows)
    assert "".join("".join(rows).split()) == "".join(clean.split())


def test_a_slash_lists_commands_and_enter_takes_the_marked_one() -> None:
    """Enter on a leading slash never sends the text as a prompt."""
    chat = Chat()
    chat.on(Text("/"))
    assert chat.listed == ["/help", "/exit"]
    chat.on(Key("down"))
    assert chat.on(Key("enter")) == Command("/exit")
    chat.composer.on(Paste("/tmp/x is broken"))
    assert chat.on(Key("enter")) == Command("/tmp/x")


def test_a_backslash_at_the_end_eats_the_enter() -> None:
    """As in the real ones: the line goes on, and the next Enter sends."""
    chat = Chat()
    chat.on(Paste("go on\\"))
    assert chat.on(Key("enter")) is None
    chat.on(Text("here"))
    assert chat.on(Key("enter")) == Submit("go on\nhere")


def test_an_empty_box_sends_nothing() -> None:
    """A bare Enter is no prompt."""
    chat = Chat()
    assert chat.on(Key("enter")) is None
    chat.on(Text("  "))
    assert chat.on(Key("enter")) is None
