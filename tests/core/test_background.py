"""Work that goes on after a turn, and reports that a new turn has overtaken."""

from __future__ import annotations

import pytest

from fan.core.model import Delivery, State, Status, Turn
from fan.core.recipe import parse
from fan.core.standing import turn
from tests.core.scene import REST, WORKING, box, document, reading, recipe, report

SHELLS = recipe(screen={**document()["screen"], "background": r"\d+ shells?"})


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (box(footer=f"{REST} · 1 shell"), "1 shell"),
        (box(above=["● done", "2 shells"]), "2 shells"),
        (box(above=["2 shells", *("● prose",) * 20]), ""),
        (["1 shell"], ""),
        (box(), ""),
    ],
)
def test_background_work_is_named_in_the_footer_or_directly_above_the_box(rows: list[str], found: str) -> None:
    """It changes neither state nor openness; far above the box it is history, and without a box nothing is read.

    Goes red when only one of the two places is looked at.
    """
    seen = reading(rows, by=SHELLS)
    assert seen.background == found
    assert seen.open is (len(rows) > 1)
    sent = Delivery(1, "m", "x", 0.0, status=Status.SENT)
    assert turn(sent, State.REST, "", seen.background) is (Turn.RUNNING if found else Turn.DONE)


@pytest.mark.parametrize("told", [State.REST, State.ERRORED, State.LIMITED])
def test_the_end_of_a_turn_is_over_when_the_screen_shows_work(told: State) -> None:
    """Red when a failed turn's report still counts, and its work as done, while the next turn runs."""
    assert reading(box(footer=WORKING), report(told)).state is State.WORKING


@pytest.mark.parametrize(
    ("told", "kind"), [(State.WORKING, ""), (State.NEEDS_INPUT, "permission")], ids=["work", "permission"]
)
def test_an_end_that_no_hook_reports_is_believed_where_the_screen_names_it(told: State, kind: str) -> None:
    """Esc is rest at once with its words above the box and every sign of rest; with less, the fresh report holds.

    Goes red when the words alone end a turn, or when a sign of work beside them is not heard.
    """
    by = parse(document(titles=True) | {"hooks": {"unreported": ["Interrupted[^>]*$"]}}, where="agent.toml")
    last = report(told, kind, age=0.2)

    def state(rows: list[str], title: str = "= x") -> State:
        return reading(rows, last, by=by, title=title).state

    assert state(box(above=["● done", "Interrupted"])) is State.REST
    assert state(box(above=["Interrupted", "> next"])) is told
    assert state(box(above=["Interrupted"]), title="* x") is not State.REST
    assert state(box(above=["Interrupted"], footer=WORKING)) is State.WORKING
    assert state(box()) is told
