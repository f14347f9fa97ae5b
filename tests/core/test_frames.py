"""Recorded frames as looks, and the two rules of reading that they taught."""

from __future__ import annotations

import pytest

from fan.core.frames import Scored, frame, matrix, read_frame, score
from fan.core.model import State
from fan.core.recipe import parse
from fan.core.regions import find_composer
from tests.core.scene import RULES, box, document, look, reading, recipe
from tests.core.test_regions import CURSED

SCREEN = "\n".join(box()) + "\n"
FACTS = {"state": "rest", "current_command": "agent", "cursor": [2, 1], "cols": 80, "rows": 24}
WORKING = "\n".join(box(footer="Busy (3s) esc to interrupt"))


def scored(screen: str = SCREEN, **facts: object) -> Scored:
    """One frame as the made-up recipe reads it."""
    return score(recipe(hooks=True), [frame("agent/x.txt", "agent", screen, FACTS | facts)])[0]


def test_a_frame_is_read_by_its_screen_alone() -> None:
    """Without a report an agent with hooks is at rest, however young; red when their grace counts for a frame."""
    assert scored().state is State.REST
    assert scored(ms_since_start=2000).state is State.REST
    assert "`^\\? for help` is in the footer" in scored().why


def test_the_age_of_a_frame_counts_where_it_is_known() -> None:
    """A blank young screen is starting, a blank one of no known age cannot be told; the first moments are no rest."""
    assert scored("\n", ms_since_start=800).state is State.STARTING
    assert scored("\n").state is State.UNKNOWN
    assert scored(ms_since_start=100).state is State.STARTING


def test_a_frame_needs_its_state_and_no_other_fact() -> None:
    """Size and program of a bare frame are taken from the screen and the agent; without a state it is no frame."""
    bare = frame("agent/x.txt", "agent", "12345\n67\n", {"state": "working"})
    assert (bare.size, bare.look.pane.command, bare.transition, bare.age) == ("5x2", "agent", False, None)
    assert read_frame(recipe(), bare).state is State.UNKNOWN
    with pytest.raises(KeyError, match="state"):
        frame("agent/x.txt", "agent", SCREEN, {})


@pytest.mark.parametrize(
    ("label", "screen", "is_false", "is_missed"),
    [
        ("rest", SCREEN, False, False),
        ("rest", WORKING, False, True),
        ("working", SCREEN, True, False),
        ("starting", SCREEN, True, False),
        ("error", SCREEN, False, False),
        ("errored", SCREEN, False, False),
        ("working", WORKING, False, False),
    ],
)
def test_false_and_missed_rest(label: str, screen: str, is_false: bool, is_missed: bool) -> None:
    """What is read as rest and is not is false, but after an error the open composer is rest as well."""
    one = scored(screen, state=label)
    assert (one.is_false_rest, one.is_missed_rest) == (is_false, is_missed)


def test_the_matrix_counts_by_the_labels_as_they_stand() -> None:
    """Agent, true state as labelled, read state, count."""
    found = [scored(), scored(), scored(state="error"), scored(WORKING, state="working")]
    expected = {"rest": {"rest": 2}, "error": {"rest": 1}, "working": {"working": 1}}
    assert matrix(found) == {"agent": expected}


def test_an_error_yields_to_words_in_the_composer() -> None:
    """A rule with `empty` holds only over an empty box; red when `empty` is not looked at."""
    rules = [{"seen": "x", **rule, "empty": rule["state"] == "errored"} for rule in RULES]
    by = parse(document() | {"screen": {**document()["screen"], "rules": rules}}, where="agent.toml")
    failed = ["API Error: 500"]
    assert reading(box(above=failed), by=by).state is State.ERRORED
    answered = reading(box("try again", above=failed), by=by)
    assert answered.state is State.REST
    assert any(one.failed == "something stands in the composer" for one in answered.tried)


def test_a_cursor_that_has_not_followed_its_box_yet() -> None:
    """In the last gap it belongs to the box above, whose text ends there; a gap inside a draft is none."""
    moved = look(["> one", "", "ready", "hints"], cursor=1).lines
    found = find_composer(CURSED, moved, 1)
    assert found is not None
    assert (found.text, found.end) == ("one", 1)
    draft = look(["> one", "", "  two", "", "ready"], cursor=1).lines
    inside = find_composer(CURSED, draft, 1)
    assert inside is not None
    assert inside.text == "one\n\ntwo"
