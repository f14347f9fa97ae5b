"""Which part of a screen is live."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.model import Line, Span
from fan.core.recipe import ComposerRule, Screen
from fan.core.regions import Composer, find_composer, regions
from tests.core.scene import COMPOSER, RULE, box, look, recipe, styled

EDGED = ComposerRule(prompt="^>( |$)", above="^─{20,}$", below="^─{20,}$", indent="^  ", cursor=True)
FREE = ComposerRule(prompt="^>( |$)", indent="^  ", footer=2)
CURSED = ComposerRule(prompt="^>( |$)", indent="^  ", footer=2, cursor=True)
SCREEN = recipe().screen
ROWS = st.lists(
    st.sampled_from([RULE, ">", "> text", "  more", "", "? for help", "● prose", "  " + RULE, "───"]), max_size=12
)


def find(rule: ComposerRule, rows: list[str], cursor: int | None = None) -> Composer | None:
    """The composer on these rows; the cursor stands in the last line with a prompt sign."""
    seen = look(rows, cursor=cursor)
    return find_composer(rule, seen.lines, seen.pane.cursor[1])


def text(rule: ComposerRule, rows: list[str], cursor: int | None = None) -> str | None:
    """The draft on these rows, None without a composer."""
    found = find(rule, rows, cursor)
    return None if found is None else found.text


def test_a_box_and_what_stands_around_it() -> None:
    """Draft, footer, title and the lines directly above; blank rows at the bottom of a pane do not matter."""
    live = regions(SCREEN, look([*box("fix it\nnow", above=["old", "● done"]), "", "", ""], title=" t "))
    assert live.composer == Composer("fix it\nnow", "", 3, 6)
    assert (live.footer, live.dialog, live.above, live.title) == (
        "? for help",
        "? for help",
        f"old ● done {RULE}",
        "t",
    )
    assert live.text("composer") == "fix it\nnow"
    assert live.text("title") == "t"


def test_without_a_box_the_bottom_lines_are_the_dialog() -> None:
    """Only as many as the recipe says, white space collapsed over line ends; there is no footer and no above."""
    screen = Screen(composer=EDGED, rules=[], lines=2)
    live = regions(screen, look(["prose", "", "Do  you", "", "   trust it?"]))
    assert (live.composer, live.footer, live.above, live.dialog) == (None, "", "", "Do you trust it?")
    assert live.text("composer") == ""


def test_markers_that_wrap_are_one_line() -> None:
    """At a narrow width a marker breaks: it is matched over the line end."""
    live = regions(SCREEN, look([*box(), "esc to", "interrupt"]))
    assert "esc to interrupt" in live.footer


def test_a_box_quoted_in_prose_is_not_the_composer() -> None:
    """The last box counts; with a dialog below, the quoted one does not get the cursor and there is none."""
    quoted = box("quoted", footer="so it looked")
    assert text(EDGED, [*quoted, *box("real")]) == "real"
    assert text(EDGED, [*quoted, "1. Yes", "2. No"], cursor=5) is None
    assert text(EDGED, [*quoted, "1. Yes", "2. No"], cursor=1) == "quoted"


def test_little_may_stand_below() -> None:
    """More non-blank lines than the recipe's `footer` below a box: it is prose that scrolled up."""
    assert text(EDGED, [*box("x", footer="1"), "2", "", "3", "4", "5", "6"]) == "x"
    assert text(EDGED, [*box("x", footer="1"), "2", "3", "4", "5", "6", "7"]) is None


def test_rule_lines_in_a_draft_do_not_end_the_box() -> None:
    """A draft may hold rules and prompt signs: its further lines are indented."""
    assert text(EDGED, box(f"one\n{RULE}\n> two")) == f"one\n{RULE}\n> two"


def test_a_broken_box_is_none() -> None:
    """A prompt line without its upper edge, or prose between it and the lower edge: cannot tell, so none."""
    assert text(EDGED, ["> x", RULE]) is None
    assert text(EDGED, [RULE, "> x", "prose", RULE]) is None
    assert text(EDGED, [RULE, RULE]) is None
    assert text(EDGED, []) is None


def test_a_blank_line_in_a_draft_belongs_to_it() -> None:
    """The box ends at its lower edge, not at a blank line."""
    assert text(EDGED, box("one\n\ntwo")) == "one\n\ntwo"


def test_a_composer_without_an_edge_ends_at_a_blank_line() -> None:
    """What follows is the footer, of which there may be little."""
    assert find(FREE, ["prose", "> one", "  two", "", "ready"]) == Composer("one\ntwo", "", 1, 3)
    assert find(FREE, [">"]) == Composer("", "", 0, 1)
    assert text(FREE, ["> quoted", "", "> real", "", "ready"]) == "real"


def test_a_prompt_sign_far_above_is_no_composer() -> None:
    """Red when the bound below holds for boxes with an edge only: any quoted `> ` line would be the composer."""
    assert text(FREE, ["> quoted", "", "1. Yes", "2. No"]) == "quoted"
    assert text(FREE, ["> quoted", "", "Run it?", "1. Yes", "2. No"]) is None


def test_the_cursor_shows_how_far_a_draft_without_an_edge_goes() -> None:
    """B030: blank lines in a draft end it only below the cursor; a cursor behind other prose is not in it."""
    rows = ["> one", "", "  two", "", "ready"]
    assert text(CURSED, rows, cursor=2) == "one\n\ntwo"
    assert text(CURSED, rows, cursor=0) == "one"
    assert text(CURSED, rows, cursor=4) is None
    assert text(CURSED, ["> one"], cursor=2) == "one"
    assert text(CURSED, ["prose", "> one"], cursor=0) is None


def ghost(line: Line, rule: ComposerRule = EDGED) -> tuple[str, str]:
    """Draft and suggestion in a box whose first line is this one."""
    found = find_composer(rule, [Line(RULE), line, Line(RULE)], 1)
    assert found is not None
    return found.text, found.ghost


@pytest.mark.parametrize(
    ("line", "draft", "suggestion"),
    [
        (styled("> try it", (2, 8, "dim")), "", "try it"),
        (styled("> try it", (0, 8, "dim")), "", "try it"),
        (styled("> try it", (2, 3, "reverse"), (3, 8, "dim")), "", "try it"),
        (styled("> try it"), "try it", ""),
        (styled("> try it", (2, 8, "bold")), "try it", ""),
        (styled("> fix it all", (8, 12, "dim")), "fix it", ""),
        (styled("> a it", (3, 6, "dim")), "a", ""),
        (styled("> a", (2, 3, "reverse")), "a", ""),
        (styled("> x", (0, 1, "dim")), "x", ""),
        (styled(">", (0, 1, "dim")), "", ""),
    ],
)
def test_a_suggestion_is_not_a_draft(line: Line, draft: str, suggestion: str) -> None:
    """Faded cells are a ghost, its first one maybe under the cursor; real letters, even one, are a draft."""
    assert ghost(line) == (draft, suggestion)


def test_the_recipe_says_which_styles_are_faded() -> None:
    """Some agents write suggestions in a grey of their own."""
    grey = ComposerRule(prompt="^>( |$)", above="^─", below="^─", ghost=["fg246"])
    assert ghost(styled("> try", (2, 5, "bold fg246")), grey) == ("", "try")
    assert ghost(styled("> try", (2, 5, "dim")), grey) == ("try", "")


LINES = st.builds(
    Line,
    st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), ROWS.map("".join)),
    st.lists(
        st.builds(Span, st.integers(0, 20), st.integers(0, 40), st.sampled_from(["dim", "reverse", "dim reverse"])),
        max_size=3,
    ).map(tuple),
)


@given(
    st.lists(LINES, max_size=12), st.integers(0, 60), st.sampled_from([EDGED, FREE, CURSED, ComposerRule(prompt="")])
)
def test_no_screen_is_too_odd(lines: list[Line], cursor: int, rule: ComposerRule) -> None:
    """Arbitrary lines, spans and cursors never raise, and a composer that is found lies on the screen."""
    found = find_composer(rule, lines, cursor)
    assert found is None or 0 <= found.first < found.end
    assert found is None or not rule.cursor or found.first <= cursor < found.end
    regions(Screen(composer=rule, rules=[]), look([line.text for line in lines], cursor=cursor))


@given(ROWS, st.text(st.sampled_from("ab c\n─>"), max_size=30))
def test_the_box_at_the_bottom_is_found_under_any_prose(prose: list[str], draft: str) -> None:
    """Whatever stands above, the draft in the last box is read as it is."""
    wanted = "\n".join(line.rstrip(" ") for line in draft.split("\n"))
    assert text(EDGED, [*prose, *box(draft)], cursor=len(prose) + 1) == wanted.strip()
    assert COMPOSER["cursor"]
