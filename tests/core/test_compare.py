"""The rules by which members are compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fan.core.compare import Tokens, Touched, Verification, overlap, tokens, took, verdict
from fan.core.model import Change, Delivery, Kind, State, Status

CHECK = Verification(1, "m", "make", "c1", "t1", 0, 10.0, 12.5, Path("/log"))
SENT = Delivery(1, "m", "x", 0.0, status=Status.SENT, pressed_at=100.0, done_at=101.0)
MESSAGE = {"input": ["m.in", "m.new"], "cached": ["m.old"], "output": ["m.out"]}


def change(state: State, since: float, kind: str = "") -> Change:
    return Change("m", state, kind, "", "screen", since)


@pytest.mark.parametrize(("commit", "tree", "stale"), [("c1", "t1", False), ("c2", "t1", True), ("c1", "t2", True)])
def test_a_result_is_stale_once_commit_or_tree_moved_on(commit: str, tree: str, stale: bool) -> None:
    """Only what it ran on is what it speaks of.

    Red when the tree is left out: an edit without a commit would keep a result fresh.
    """
    found = verdict(CHECK, commit, tree)
    assert found is not None
    assert (found.status, found.stale, found.seconds) == ("passed", stale, 2.5)


@pytest.mark.parametrize(("code", "status"), [(0, "passed"), (1, "failed"), (137, "failed"), (None, "broken_off")])
def test_the_exit_code_alone_says_how_a_check_ended(code: int | None, status: str) -> None:
    """Without one it was broken off, which is no pass."""
    found = verdict(replace(CHECK, exit_code=code), "c1", "t1")
    assert found is not None
    assert found.status == status


def test_a_check_that_has_not_ended_says_nothing() -> None:
    """A killed `fan verify` leaves no result behind."""
    assert verdict(replace(CHECK, ended_at=None, exit_code=None), "c1", "t1") is None
    assert verdict(None, "c1", "t1") is None


def test_overlap_names_what_several_touch_under_old_and_new_names() -> None:
    """A rename touches both its names; what one alone touches is not told."""
    touched = {
        "one": [Touched("a", 1, 1), Touched("new", 0, 0, was="old")],
        "two": [Touched("a", 2, 0), Touched("old", 5, 0)],
        "three": [Touched("c", 1, 0), Touched("a", None, None)],
    }
    assert overlap(touched) == {"a": ["one", "two", "three"], "old": ["one", "two"]}


@given(st.dictionaries(st.text(max_size=3), st.lists(st.sampled_from("abcd"), unique=True), max_size=4))
def test_overlap_is_what_a_count_says(touched: dict[str, list[str]]) -> None:
    """Exactly the paths that at least two members name, each with all of these."""
    found = overlap({member: [Touched(path, 1, 0) for path in paths] for member, paths in touched.items()})
    for path in "abcd":
        members = [member for member, paths in touched.items() if path in paths]
        assert found.get(path, []) == (members if len(members) > 1 else [])


def test_the_time_runs_from_the_key_to_the_rest_that_lasts() -> None:
    """A dialog, a limit and a rest of a moment between two steps are not its end.

    Red when the first rest counts, however short.
    """
    seen = [
        change(State.REST, 90),
        change(State.WORKING, 100.2),
        change(State.REST, 103),
        change(State.WORKING, 103.5),
        change(State.NEEDS_INPUT, 104, Kind.PERMISSION),
        change(State.WORKING, 110),
        change(State.REST, 130),
    ]
    assert took([SENT], seen, []) == 30
    assert took([SENT], seen[:-1], []) is None


def test_each_prompt_has_its_own_time() -> None:
    """What lies between a rest and the next prompt is nobody's work."""
    second = replace(SENT, id=2, pressed_at=200.0)
    seen = [change(State.WORKING, 100), change(State.REST, 110), change(State.WORKING, 200), change(State.REST, 205)]
    assert took([SENT, second], seen, []) == 15
    assert took([SENT, second], seen[:-1], []) is None


def test_a_quick_agent_is_timed_by_its_own_word() -> None:
    """Where nobody saw it at work its report of rest counts; never while it is seen at work."""
    assert took([SENT], [change(State.REST, 90)], [50.0, 100.4]) == pytest.approx(0.4)
    assert took([SENT], [change(State.REST, 90)], []) is None
    assert took([SENT], [change(State.REST, 90), change(State.WORKING, 101)], [100.4]) is None


def test_nothing_sent_has_no_time() -> None:
    """A prompt that is pending or was not sent is not timed."""
    for status in (Status.PENDING, Status.NOT_SENT):
        assert took([replace(SENT, status=status)], [change(State.REST, 130)], [130.0]) is None


def test_lines_of_one_answer_count_once() -> None:
    """An answer is written in several lines, each with its numbers so far: the last one counts.

    Red when every line is added up.
    """
    lines = [
        {"m": {"id": "a", "in": 10, "new": 5, "old": 100, "out": 1}},
        {"m": {"id": "a", "in": 10, "new": 5, "old": 100, "out": 20}},
        {"m": {"id": "b", "in": 3, "out": 4}},
        {"m": "text"},
        {"type": "user"},
        [1],
    ]
    assert tokens(lines, "m.id", MESSAGE) == Tokens(input=18, cached=100, output=24)
    assert tokens(lines, "", MESSAGE) == Tokens(input=33, cached=200, output=25)
    assert tokens(lines[3:], "m.id", MESSAGE) is None
