"""What a pane has printed since it was captured."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fan.core.printed import printed

BOX = ["─" * 20, "> ", "─" * 20, "? for help", ""]
LINES = st.lists(st.text("abc ", max_size=6), max_size=12)


@given(LINES, LINES)
def test_what_was_added_is_told(old: list[str], new: list[str]) -> None:
    """Behind lines that stay and above a box that stays, all that is not blank is told, and nothing else."""
    head = ["welcome", *old]
    found = printed([*head, *BOX], [*head, *new, *BOX])
    wanted = [line.rstrip() for line in new]
    assert [line for line in found.split("\n") if line] == [line for line in wanted if line]


def test_lines_that_have_left_the_history_are_no_answer() -> None:
    """Where the oldest lines are gone, what is left of the others is known again."""
    old = [f"line {number}" for number in range(20)]
    assert printed([*old, *BOX], [*old[7:], "the answer", *BOX]) == "the answer"


def test_a_redrawn_screen_is_told_whole() -> None:
    """Where nothing is as it was, all of it may be the answer."""
    assert printed(["a", "b"], ["c", "", "d", "  "]) == "c\n\nd"
    assert printed([], ["c"]) == "c"
    assert printed(["a"], ["a"]) == ""
