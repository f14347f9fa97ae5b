"""A prompt before it is typed, and found again on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.prompt import echo, pointer, prepare, same_words
from fan.core.recipe import Guard, Submit
from fan.core.regions import Composer
from fan.errors import Empty

PLAIN = Submit()
STUB = Submit(stubs=[r"\[Pasted text #\d+ \+\d+ lines\]"])
SLASH = Guard(at="start", match=r"^\s*[/!]", add="Task:\n", why="a leading / opens a menu")
BACKSLASH = Guard(at="end", match=r"\\$", add=" ", why="a closing backslash eats the Enter")
GUARDED = Submit(guards=[SLASH, BACKSLASH])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
VISIBLE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1)
LONG = "Refactor the client so that every call has a time limit. " * 4


def composer(text: str) -> Composer:
    """A composer with this draft."""
    return Composer(text, "", 0, 1)


def is_control(char: str) -> bool:
    return ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0


@pytest.mark.parametrize(
    "text",
    ["run the tests;", ";", "a;b;", "a\\;", "-n 3", "tab\there", "a\n\nb", "$(x) `y` #{z}", "«ü» 你好 🎉 e\u0301"],
)
def test_what_is_no_control_character_is_typed_as_given(text: str) -> None:
    """B031, B072: semicolons, backslashes, tabs, blank lines, substitutions and any Unicode stay byte for byte."""
    assert prepare(text, PLAIN).text == text
    assert prepare(text, PLAIN).guards == ()


@pytest.mark.parametrize(
    ("given_", "typed"),
    [
        ("a\n\n", "a"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x1b[201~\rb", "a[201~\nb"),
        ("a\x9b201~b\x7f\x00", "a201~b"),
        ("  a", "  a"),
    ],
)
def test_control_characters_and_closing_newlines_go(given_: str, typed: str) -> None:
    """Whatever could close the paste brackets or press a key is gone before it reaches tmux."""
    assert prepare(given_, PLAIN).text == typed


@given(TEXT)
def test_bytes_are_intact_but_for_control_characters(text: str) -> None:
    """For any text: what is typed is what was given without control characters, line ends as line feeds."""
    kept = "".join(
        char for char in text.replace("\r\n", "\n").replace("\r", "\n") if char in "\t\n" or not is_control(char)
    )
    if not kept.strip():
        with pytest.raises(Empty):
            prepare(text, PLAIN)
        return
    prepared = prepare(text, PLAIN)
    assert prepared.text == kept.rstrip("\n")
    assert prepared.size == len(prepared.text.encode())


@given(TEXT, st.booleans())
def test_guards_only_add_and_are_told(text: str, command: bool) -> None:
    """B033: a guard stands before or behind the same text and its reason is kept; a command goes as it is."""
    plain = prepare(f"x{text}", PLAIN).text[1:]
    if not plain.strip() or plain != prepare(plain, PLAIN).text:
        return
    guarded = prepare(plain, GUARDED, command=command)
    assert plain in guarded.text
    assert (guarded.text != plain) == bool(guarded.guards)
    assert not (command and guarded.guards)
    assert command or not guarded.text.startswith(("/", "!"))
    assert command or not guarded.text.endswith("\\")


def test_both_guards_at_once() -> None:
    """Start and end are guarded apart, each with its reason, and only where the text calls for it."""
    assert prepare("/compact\\", GUARDED).text == "Task:\n/compact\\ "
    assert prepare("/compact\\", GUARDED).guards == (SLASH.why, BACKSLASH.why)
    assert prepare("a / b", GUARDED).guards == ()


@pytest.mark.parametrize("text", ["", " \n\t ", "\x1b\x07", "\r\n\r\n"])
def test_nothing_is_refused(text: str) -> None:
    """An empty prompt, also once its control characters are gone, is refused before anything is made."""
    with pytest.raises(Empty):
        prepare(text, PLAIN)


def test_a_large_prompt_is_pointed_to() -> None:
    """The line that stands for the file is one line and names it."""
    assert ".fan/prompt.md" in pointer(".fan/prompt.md")
    assert "\n" not in pointer(".fan/prompt.md")


@pytest.mark.parametrize(
    ("shown", "typed", "answer"),
    [
        ("fix the bug", "fix the bug", "ours"),
        ("fix the\n  bug", "fix the bug", "ours"),
        ("fix  the_ bug", "fix the — bug", "ours"),
        ("fix the", "fix the bug", "none"),
        ("the bug", "fix the bug", "none"),
        ("somebody's draft", "fix the bug", "none"),
        ("so fix the bug", "fix the bug", "mixed"),
        ("fix the bug now", "fix the bug", "none"),
        ("", "fix the bug", "none"),
        (LONG[-120:], LONG, "ours"),
        ("x" + LONG[-120:], LONG, "mixed"),
        (LONG[-30:], LONG, "none"),
        ("?", "?", "ours"),
        ("!?", "?", "mixed"),
        ("?!", "?", "none"),
        ("?", "!", "none"),
        ("? !", "?!", "ours"),
        ("🎉 🎉", "🎉🎉", "ours"),
        ("", "?", "none"),
        ("ok", "ok", "ours"),
        ("ok ok", "ok", "mixed"),
    ],
)
def test_our_text_is_known_again(shown: str, typed: str, answer: str) -> None:
    """By letters and digits over any white space; a box that scrolls shows at least sixty of them from the end."""
    assert echo(composer(shown), typed, PLAIN) == answer


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        ("[Pasted text #1 +4 lines]", "ours"),
        ("[Pasted text\n  #1 +4 lines]", "ours"),
        ("[Pasted text #1 +4 lines] ", "ours"),
        ("so [Pasted text #1 +4 lines]", "mixed"),
        ("? [Pasted text #1 +4 lines]", "mixed"),
        ("[Pasted text #1 +4 lines] [Pasted text #2 +9 lines]", "mixed"),
        ("[Pasted text #1]", "none"),
    ],
)
def test_a_stub_is_ours_when_it_stands_alone(shown: str, answer: str) -> None:
    """B030. `so` is a piece of our own text as well: red when any such piece beside the stub passes for ours."""
    assert echo(composer(shown), LONG, STUB) == answer


def test_without_a_composer_there_is_no_echo() -> None:
    """A dialog or a failed look shows nothing of ours."""
    assert echo(None, "x", PLAIN) == "none"


@given(VISIBLE, st.integers(1, 7))
def test_every_text_is_known_again_however_it_wraps(text: str, width: int) -> None:
    """Whatever is typed, folded at any width it is ours, and the same words."""
    folded = "\n".join(text[at : at + width] for at in range(0, len(text), width))
    assert echo(composer(folded), text, PLAIN) == "ours"
    assert same_words(folded, text)


@given(VISIBLE, VISIBLE)
def test_a_draft_beside_ours_is_never_ours(draft: str, text: str) -> None:
    """Letters of somebody else before or behind our text: nothing that would be submitted."""
    for shown in (f"word{draft}{text}", f"{text}{draft}word"):
        assert echo(composer(shown), f"{text}abc", PLAIN) != "ours"
        assert echo(composer(shown), text, PLAIN) != "ours" or len(text) > 60


def test_same_words_tells_prompts_apart() -> None:
    """An agent's report of another prompt, or of none, is no evidence."""
    assert same_words("Fix  the\nbug", "Fix the bug")
    assert not same_words("Fix the bugs", "Fix the bug")
    assert not same_words("", "?")
    assert not same_words("?", "!")
