"""What the courier relies on when it does not read a screen anew that has not changed since its agent rested."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fan.core.model import State
from fan.core.reading import read
from fan.core.recipe import Recipe
from fan.courier.seeing import Seen, _still_rests
from tests.core.scene import WORKING, box, look, recipe, report
from tests.core.test_reading import RECIPES, REPORTS, SCREENS


@given(
    st.sampled_from(["rest", "draft"]),
    REPORTS,
    st.sampled_from(["", "= a"]),
    st.sampled_from([None, 95.0, 0.0]),
    st.sampled_from(RECIPES),
    st.floats(0.0, 1e6),
)
def test_by_time_alone_rest_becomes_nothing_else(
    screen: str, told: Any, title: str, launched: float | None, by: Recipe, later: float
) -> None:
    """The same screen and report mean the same rest at any later time. Fails when a rule lets rest grow old."""
    first = read(by, look(SCREENS[screen], title=title), told, launched)
    again = read(by, look(SCREENS[screen], title=title, at=100.0 + later), told, launched)
    assert first.state is not State.REST or replace(again, claims=()) == replace(first, claims=())


def test_only_an_unchanged_rest_is_not_read_anew() -> None:
    """Another line, cursor, title or mode, a report, a changed member or recipe, and every other state is read."""
    by, other = recipe(), recipe(titles=True)
    rest, work = look(box()), look(box(footer=WORKING))
    member: Any = object()
    before = Seen(member, rest.pane, rest, read(by, rest, None, 0.0), by)
    assert _still_rests(before, member, look(box(), at=101.0), by, None)
    changed = [look(box("a")), look(box(), cursor=3), look(box(), title="x"), look(box(), in_mode=True), work, None]
    assert not any(_still_rests(before, member, one, by, None) for one in changed)
    assert not _still_rests(before, member, rest, by, report(State.REST))
    assert not _still_rests(before, member, rest, other, None)
    assert not _still_rests(replace(before, member=None), member, rest, by, None)
    working = replace(before, look=work, reading=read(by, work, None, 0.0))
    assert not _still_rests(working, member, work, by, None)
