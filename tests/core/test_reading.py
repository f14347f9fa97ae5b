"""What a look and the other evidence mean."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fan.core.model import Kind, State, Witness
from fan.core.reading import COPY_MODE, DRAFT, HELD, gone, held, read, unseen
from fan.core.recipe import Recipe
from tests.core.scene import (
    LIMIT,
    PERMISSION,
    QUESTION,
    REST,
    RULE,
    TRUST,
    WORKING,
    box,
    document,
    look,
    reading,
    recipe,
    report,
)

SCREENS = {
    "rest": box(),
    "draft": box("rename the"),
    "working": box(footer=WORKING),
    "question": box(footer=QUESTION),
    "error": box(above=["● API Error 529"]),
    "trust": list(TRUST),
    "permission": list(PERMISSION),
    "limit": list(LIMIT),
    "odd": ["?? new screen"],
    "odd box": box(footer="new footer"),
    "blank": [""],
}
QUOTES = ["● it says: esc to interrupt", *TRUST, *PERMISSION, "● done"]
CANNOT = recipe(proof={"rest": False})


def test_a_composer_and_its_footer_are_rest() -> None:
    """All signs there: open, nothing in the way, decided by the screen."""
    seen = reading(SCREENS["rest"])
    assert (seen.state, seen.open, seen.obstacle, seen.decided_by) == (State.REST, True, "", Witness.SCREEN)


@pytest.mark.parametrize(
    ("screen", "state", "kind", "is_open", "obstacle"),
    [
        ("draft", State.REST, "", True, DRAFT),
        ("working", State.WORKING, "", False, "it is working"),
        ("question", State.NEEDS_INPUT, Kind.QUESTION, True, ""),
        ("error", State.ERRORED, "", True, ""),
        ("trust", State.NEEDS_INPUT, Kind.TRUST, False, "it asks whether you trust the folder"),
        ("permission", State.NEEDS_INPUT, Kind.PERMISSION, False, "it asks for your permission"),
        ("limit", State.LIMITED, "", False, "its usage limit is reached"),
        ("odd", State.UNKNOWN, "", False, "its state cannot be told from the screen"),
        ("odd box", State.UNKNOWN, "", False, "its state cannot be told from the screen"),
        ("blank", State.UNKNOWN, "", False, "its state cannot be told from the screen"),
    ],
)
def test_one_look_at_the_screen_alone(screen: str, state: State, kind: str, is_open: bool, obstacle: str) -> None:
    """What no rule fits is unknown; a question and an error leave the composer open, everything else does not."""
    seen = reading(SCREENS[screen])
    assert (seen.state, seen.kind, seen.open, seen.obstacle) == (state, kind, is_open, obstacle)


def test_a_limit_tells_its_reset_time() -> None:
    """B038: group 1 of the rule's detail is kept."""
    assert reading(SCREENS["limit"]).detail == "14:30"


def test_an_optional_group_that_matched_nothing_is_no_detail() -> None:
    """Red when a detail without text ends in a traceback."""
    rules = document()["screen"]["rules"]
    rules[3]["detail"] = "resets( never)?"
    by = recipe(screen={**document()["screen"], "rules": rules})
    assert (reading(SCREENS["limit"], by=by).state, reading(SCREENS["limit"], by=by).detail) == (State.LIMITED, "")


def test_what_is_quoted_from_the_screen_is_masked_and_visible() -> None:
    """The words of a dialog, those of work in the background, a limit's in a hook's input and the program in the
    foreground, each with a secret and a character that turns the line round.

    Red when one of them is kept as it stands on the screen.
    """
    secret, turned = "sk-" + "a1B2" * 6, "\u202e"
    words = f"{turned}{secret}"
    rules = [dict(rule) for rule in document()["screen"]["rules"]]
    rules[1]["detail"] = r"run it\? (\S+)"
    screen = {**document()["screen"], "rules": rules, "background": r"\S+ still running"}
    by = recipe(screen=screen)
    shown = f"\\u202e{'*' * len(secret)}"
    assert reading(["May I run it?", words, "1. Yes"], by=by).detail == shown
    assert reading(box(footer=f"? for help, {words} still running"), by=by).background == f"{shown} still running"
    assert reading(box(), command=words).detail == f"`{shown}` is in the foreground, not the agent"
    told = replace(report(State.LIMITED), payload=f"resets {words}")
    assert reading(box(), told).detail == shown


def test_an_answer_that_quotes_signs_above_an_open_composer_is_rest() -> None:
    """B037 A: busy words and questions in prose are never looked at, in a single look."""
    seen = reading(box(above=QUOTES))
    assert (seen.state, seen.open, seen.obstacle) == (State.REST, True, "")


def test_a_timer_alone_is_work() -> None:
    """B037 B: one single look says working, and a ticking footer does not count as a change."""
    one, two = (reading(box(footer=f"Busy ({n}s) esc to interrupt")) for n in (1, 2))
    assert one.state is two.state is State.WORKING
    assert one.still == two.still


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (box(), box("x")),
        (box(), box(above=["line"])),
        (list(TRUST), list(PERMISSION)),
        (box(), box(footer=WORKING)),
        (["1 of 9 servers"], ["2 of 9 servers"]),
    ],
)
def test_what_must_stand_still(one: list[str], two: list[str]) -> None:
    """Composer, its place, dialog and state each change the fingerprint."""
    assert reading(one).still != reading(two).still


def test_a_title_must_stand_still() -> None:
    """The title counts, its outer blanks do not."""
    assert reading(box(), title="a").still != reading(box(), title="b").still
    assert reading(box(), title="a ").still == reading(box(), title=" a").still


def test_a_dead_pane_is_exited_whatever_it_shows() -> None:
    """A dead agent's pane still shows its prompt; a fresh report changes nothing either."""
    seen = reading(box(), report(State.REST), dead=True, exit_status=3)
    assert (seen.state, seen.detail, seen.open) == (State.EXITED, "its agent exited with code 3", False)
    assert seen.obstacle == seen.detail
    assert reading(box(), dead=True).detail == "its agent has exited"


def test_a_shell_in_the_foreground_is_not_the_agent() -> None:
    """Unknown, never rest, whatever the screen and the agent's report say; right after the launch it is starting."""
    seen = reading(box(), report(State.REST), command="bash")
    assert (seen.state, seen.decided_by, seen.open) == (State.UNKNOWN, Witness.PROCESS, False)
    assert "`bash`" in seen.detail
    assert reading(box(), command="bash", launched_at=99.0).state is State.STARTING
    assert reading(box(), command="agent2").state is State.UNKNOWN


def test_copy_mode_is_in_the_way_and_a_dialog_more_so() -> None:
    """B034: rest is still seen, but nothing may be typed."""
    seen = reading(box(), in_mode=True)
    assert (seen.state, seen.open, seen.obstacle) == (State.REST, False, COPY_MODE)
    assert reading(SCREENS["trust"], in_mode=True).obstacle == "it asks whether you trust the folder"


def test_a_ghost_is_not_a_draft() -> None:
    """B035 and its contrary: a suggestion is not in the way, one real letter is."""
    assert reading(box("x")).obstacle == DRAFT
    assert reading(box("")).obstacle == ""


@pytest.mark.parametrize(
    ("launched", "told", "state", "missing"),
    [
        (None, None, State.REST, ""),
        (99.7, None, State.STARTING, "it has only just started"),
        (95.0, None, State.STARTING, "it has not reported that it is ready"),
        (95.0, State.REST, State.REST, ""),
        (89.0, None, State.REST, ""),
    ],
)
def test_rest_in_the_first_moments(launched: float | None, told: State | None, state: State, missing: str) -> None:
    """B043: with hooks, rest right after the launch needs a report; one that never fires is waited for 10 s only."""
    seen = reading(box(), report(told) if told else None, by=recipe(hooks=True), launched_at=launched)
    assert (seen.state, seen.detail) == (state, missing)


def test_without_hooks_the_screen_is_believed_after_the_first_moments() -> None:
    """Half a second after the launch and no earlier."""
    assert reading(box(), launched_at=99.6).state is State.STARTING
    assert reading(box(), launched_at=99.4).state is State.REST


def test_a_screen_that_nothing_fits_is_starting_for_a_while() -> None:
    """A minute after the launch it is unknown; an agent that has reported is past its start."""
    assert reading([""], launched_at=50.0).state is State.STARTING
    assert reading([""], launched_at=30.0).state is State.UNKNOWN
    assert reading([""], report(State.REST), launched_at=50.0).state is State.UNKNOWN


@pytest.mark.parametrize(
    ("title", "state", "detail"),
    [
        ("= agent", State.REST, ""),
        ("* agent", State.WORKING, ""),
        ("agent", State.UNKNOWN, "its title does not say that it rests"),
        ("", State.UNKNOWN, "its title does not say that it rests"),
    ],
)
def test_the_title_is_a_second_witness(title: str, state: State, detail: str) -> None:
    """Where the recipe has it, rest needs it: the work line vanishes while an answer streams, the title knows."""
    seen = reading(box(), by=recipe(titles=True), title=title)
    assert (seen.state, seen.detail) == (state, detail)
    assert seen.open is (state is State.REST)


def test_a_title_alone_never_proves_rest() -> None:
    """Titles lie: at rest during a permission prompt, and over a screen that nothing fits."""
    assert reading(SCREENS["permission"], by=recipe(titles=True), title="= agent").state is State.NEEDS_INPUT
    assert reading(SCREENS["odd"], by=recipe(titles=True), title="= agent").state is State.UNKNOWN


def test_a_recipe_that_cannot_prove_rest_never_shows_it() -> None:
    """Red when `proof.rest` is not asked: typing would be allowed on a guess."""
    seen = reading(box(), by=CANNOT)
    assert (seen.state, seen.detail, seen.open) == (State.UNKNOWN, "its recipe cannot prove rest", False)


STALE = [
    # state, kind, age, screen: state then, decided by
    (State.WORKING, "", 1, "rest", State.WORKING, Witness.REPORT),
    (State.WORKING, "", 6, "rest", State.REST, Witness.SCREEN),
    (State.WORKING, "", 6, "error", State.ERRORED, Witness.SCREEN),
    (State.WORKING, "", 6, "limit", State.LIMITED, Witness.SCREEN),
    (State.WORKING, "", 29, "odd", State.WORKING, Witness.REPORT),
    (State.WORKING, "", 31, "odd", State.UNKNOWN, Witness.SCREEN),
    (State.WORKING, "", 600, "working", State.WORKING, Witness.REPORT),
    (State.STARTING, "", 6, "rest", State.REST, Witness.SCREEN),
    (State.REST, "", 1, "working", State.WORKING, Witness.SCREEN),
    (State.REST, "", 600, "rest", State.REST, Witness.REPORT),
    (State.REST, "", 1, "odd", State.UNKNOWN, Witness.SCREEN),
    (State.REST, "", 1, "limit", State.LIMITED, Witness.SCREEN),
    (State.REST, "", 1, "error", State.ERRORED, Witness.SCREEN),
    (State.ERRORED, "", 600, "rest", State.ERRORED, Witness.REPORT),
    (State.NEEDS_INPUT, Kind.PERMISSION, 1, "rest", State.NEEDS_INPUT, Witness.REPORT),
    (State.NEEDS_INPUT, Kind.PERMISSION, 6, "rest", State.REST, Witness.SCREEN),
    (State.NEEDS_INPUT, Kind.PERMISSION, 6, "odd", State.UNKNOWN, Witness.SCREEN),
    (State.NEEDS_INPUT, Kind.PERMISSION, 600, "permission", State.NEEDS_INPUT, Witness.SCREEN),
    (State.NEEDS_INPUT, Kind.PERMISSION, 1, "working", State.WORKING, Witness.SCREEN),
    (State.NEEDS_INPUT, Kind.QUESTION, 600, "rest", State.NEEDS_INPUT, Witness.REPORT),
    (State.NEEDS_INPUT, Kind.QUESTION, 1, "working", State.WORKING, Witness.SCREEN),
    (State.LIMITED, "", 600, "limit", State.LIMITED, Witness.REPORT),
    (State.EXITED, "", 1, "rest", State.REST, Witness.SCREEN),
]


@pytest.mark.parametrize(("told", "kind", "age", "screen", "state", "by"), STALE)
def test_a_report_and_when_it_no_longer_counts(
    told: State, kind: str, age: float, screen: str, state: State, by: Witness
) -> None:
    """Hooks have holes: after Esc, an error, a limit or an early Stop the steady screen wins; silence is unknown.

    A question is no contrary of an open composer, and that a process ended only the process tells.
    """
    seen = reading(SCREENS[screen], report(told, kind, age=age))
    assert (seen.state, seen.decided_by) == (state, by)


def test_a_working_title_confirms_a_report() -> None:
    """The screen of a streaming answer looks like rest: the title says that the report still holds."""
    by = recipe(hooks=True, titles=True)
    assert reading(box(), report(State.WORKING, age=60), by=by, title="* agent").state is State.WORKING
    assert reading(box(), report(State.WORKING, age=60), by=by, title="= agent").state is State.REST


def test_a_resting_title_does_not_confirm_work() -> None:
    """Silence turns working into unknown, also where a title of rest stands over a screen that nothing fits."""
    by = recipe(hooks=True, titles=True)
    assert reading(SCREENS["odd"], report(State.WORKING, age=60), by=by, title="= x").state is State.UNKNOWN


@pytest.mark.parametrize("told", [State.REST, State.WORKING, State.ERRORED, State.LIMITED, State.STARTING])
def test_a_dialog_in_sight_wins_on_loan(told: State) -> None:
    """It wins over any claim; when it is gone, the claim is back."""
    during = reading(SCREENS["permission"], report(told))
    assert (during.state, during.kind, during.is_dialog, during.open) == (
        State.NEEDS_INPUT,
        Kind.PERMISSION,
        True,
        False,
    )
    if told is State.WORKING:
        assert reading(SCREENS["odd"], report(told, age=3.0)).state is State.WORKING


def test_a_report_counts_only_where_the_recipe_has_hooks() -> None:
    """A recipe without hooks has no such witness."""
    assert reading(box(), report(State.WORKING), by=recipe()).state is State.REST


@pytest.mark.parametrize(
    ("told", "kind", "screen", "title", "is_open"),
    [
        (State.NEEDS_INPUT, Kind.QUESTION, "rest", "= a", True),
        (State.NEEDS_INPUT, Kind.QUESTION, "question", "= a", True),
        (State.NEEDS_INPUT, Kind.QUESTION, "odd box", "= a", False),
        (State.NEEDS_INPUT, Kind.QUESTION, "rest", "* a", False),
        (State.NEEDS_INPUT, Kind.QUESTION, "limit", "= a", False),
        (State.ERRORED, "", "rest", "= a", True),
        (State.ERRORED, "", "error", "= a", True),
        (State.ERRORED, "", "odd box", "= a", False),
        (State.ERRORED, "", "rest", "* a", False),
        (State.ERRORED, "", "odd", "= a", False),
    ],
)
def test_open_needs_the_screen_and_no_witness_against_it(
    told: State, kind: str, screen: str, title: str, is_open: bool
) -> None:
    """Red when a report alone opens a composer: a screen that nothing fits, or a working title, is typed into."""
    seen = reading(SCREENS[screen], report(told, kind), by=recipe(hooks=True, titles=True), title=title)
    assert seen.open is is_open
    assert is_open is (not seen.obstacle)


def test_a_dialog_beside_work_or_a_limit_comes_first() -> None:
    """Of several signs on one screen: dialog, limit, work, error, rest."""
    assert reading([*PERMISSION, *LIMIT]).state is State.NEEDS_INPUT
    assert reading([*box(footer=WORKING), *LIMIT]).state is State.LIMITED
    assert reading(box(above=["API Error"], footer=WORKING)).state is State.WORKING


def test_every_rule_is_shown_with_what_did_not_hold() -> None:
    """`fan why` needs each rule with matched or its first missing part."""
    seen = reading(box(footer=f"{REST} esc to interrupt"))
    failed = {one.rule.state: one.failed for one in seen.tried}
    assert failed[State.WORKING] == ""
    assert failed[State.REST] == "`esc to interrupt` is in the footer"
    assert failed[State.LIMITED] == "`Usage limit reached` is not in the dialog"
    assert [one.matched for one in seen.tried].count(True) == 1


def test_readings_without_a_look() -> None:
    """A session that is gone, a held start and a failed look: never open, each with its reason."""
    assert (gone().state, held().state, unseen("no answer").state) == (State.EXITED, State.STARTING, State.UNKNOWN)
    for seen in (gone(), held(), unseen("no answer")):
        assert not seen.open
        assert seen.obstacle == seen.detail != ""
    assert unseen("no answer").detail == "no answer"


@pytest.mark.parametrize(
    ("screen", "pane", "waits"),
    [
        ("trust", {}, True),
        ("draft", {}, True),
        ("rest", {"in_mode": True}, True),
        ("rest", {}, False),
        ("working", {}, False),
        ("limit", {}, False),
        ("odd", {}, False),
    ],
)
def test_whose_turn_it_is(screen: str, pane: dict[str, Any], waits: bool) -> None:
    """A dialog, a draft, copy mode and a held start wait for the person."""
    assert reading(SCREENS[screen], **pane).waits_for_person is waits
    assert held().waits_for_person
    assert held().obstacle == HELD
    assert not gone().waits_for_person


REPORTS = st.one_of(
    st.none(),
    st.builds(
        report,
        st.sampled_from(State),
        st.sampled_from(["", *Kind]),
        age=st.sampled_from([-1.0, 0.0, 3.0, 6.0, 20.0, 60.0]),
    ),
)
RECIPES = [recipe(hooks=hooks, titles=titles) for hooks in (False, True) for titles in (False, True)]


@given(
    st.sampled_from(sorted(SCREENS)),
    REPORTS,
    st.sampled_from(["", "= a", "* a", "a"]),
    st.sampled_from([None, 99.8, 95.0, 0.0]),
    st.sampled_from(RECIPES),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["agent", "bash"]),
)
def test_nothing_but_rest_is_typed_into(
    screen: str,
    told: Any,
    title: str,
    launched: float | None,
    by: Recipe,
    dead: bool,
    in_mode: bool,
    command: str,
) -> None:
    """For every mix of witnesses: no obstacle means alive, in the foreground, an empty composer and a sign of it.

    Red when one of the checks in `_decide`, `_missing_for_rest`, `_is_open` or `_obstacle` is dropped.
    """
    seen = read(by, look(SCREENS[screen], title=title, dead=dead, in_mode=in_mode, command=command), told, launched)
    assert seen.open or seen.obstacle
    if not seen.obstacle:
        assert not dead
        assert not in_mode
        assert command == "agent"
        assert screen in ("rest", "question", "error")
        assert not (by.has_signal and title == "* a")
        assert seen.state in (State.REST, State.ERRORED) or seen.kind == Kind.QUESTION
    if seen.state is State.REST:
        assert screen in ("rest", "draft")
        assert launched != 99.8
        assert not by.has_signal or title == "= a"
    assert not (screen in ("trust", "permission") and command == "agent" and not dead) or seen.is_dialog


@given(
    st.lists(st.text(st.sampled_from(f"{RULE[0]}> ?abces1.()"), max_size=30), max_size=10),
    REPORTS,
    st.integers(0, 12),
)
def test_no_screen_is_too_odd(rows: list[str], told: Any, cursor: int) -> None:
    """Arbitrary rows give an answer, and the same one twice."""
    one, two = (read(RECIPES[3], look(rows, cursor=cursor), told, 0.0) for _ in range(2))
    assert one == two
