"""Each rule of a delivery by itself; `test_delivery_promises` tries them together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fan.core import delivery as rules
from fan.core.delivery import ASKED, SAY_AFTER, WATCH, Action, Sight, step
from fan.core.model import Delivery, Phase, State, Status, Typed
from fan.core.reading import COPY_MODE, DRAFT, HELD, gone, held, unseen
from fan.core.recipe import Submit
from tests.core.scene import LIMIT, PERMISSION, QUESTION, TRUST, WORKING, box, reading

TEXT = "Fix the login bug."
SUBMIT = Submit(presses=2)
WAITING = Delivery(1, "m", TEXT, 0.0, stepped_at=99.5)
ECHO = replace(WAITING, phase=Phase.ECHO, typed=Typed.UNKNOWN, pasted_at=99.0)
SEEN = replace(ECHO, typed=Typed.YES, seen_at=99.5)
PROVING = replace(SEEN, phase=Phase.PROVING, presses=1, pressed_at=99.0, before=reading(box(TEXT)).above)
WATCHED = replace(PROVING, status=Status.NOT_SENT, phase=Phase.WATCHING, note="stalled", done_at=99.0)
QUIET = Sight(reading(box()), 100.0, settled=True)
OURS = Sight(reading(box(TEXT)), 100.0, settled=True)


def sight(rows: list[str], at: float = 100.0, **more: Any) -> Sight:
    """What is known when the pane shows these rows."""
    pane = {name: more.pop(name) for name in ("dead", "in_mode", "exit_status") if name in more}
    return Sight(reading(rows, **pane), at, **more)


def test_the_way_of_a_prompt() -> None:
    """From rest to `sent` through every phase, each on record before its act."""
    one, action = step(WAITING, QUIET, SUBMIT)
    assert (one.phase, one.typed, action) == ("loaded", Typed.NO, Action.LOAD)
    two, action = step(rules.done(one, action, 100.0), replace(QUIET, buffer=True), SUBMIT)
    assert (two.phase, two.typed, two.ready_by, action) == ("pasting", Typed.UNKNOWN, "screen", Action.PASTE)
    three, action = step(rules.done(two, action, 100.1), replace(OURS, at=100.2), SUBMIT)
    assert (three.phase, three.typed, three.seen_at, action) == ("echo", Typed.YES, 100.2, Action.NOTHING)
    four, action = step(three, replace(OURS, at=100.6), SUBMIT)
    assert (four.phase, four.presses, action) == ("pressing", 1, Action.PRESS)
    five, action = step(rules.done(four, action, 100.7), sight(box(footer=WORKING), 100.8), SUBMIT)
    assert (five.status, five.phase, five.evidence, five.done_at) == (Status.SENT, "done", "screen", 100.8)
    assert step(five, QUIET, SUBMIT) == (five, Action.NOTHING)


@pytest.mark.parametrize(
    ("seen", "note"),
    [
        (sight(list(TRUST)), "it asks whether you trust the folder"),
        (sight(list(PERMISSION)), "it asks for your permission"),
        (sight(list(LIMIT)), "its usage limit is reached (14:30)"),
        (sight(box("oh"), settled=True), DRAFT),
        (sight(box(), in_mode=True, settled=True), COPY_MODE),
        (Sight(held(), 100.0), HELD),
    ],
)
def test_what_waits_for_the_person_is_said_at_once_and_costs_no_patience(seen: Sight, note: str) -> None:
    """Red when a draft (B035), copy mode (B034) or a held start uses up the ten minutes of a prompt."""
    after, action = step(replace(WAITING, stepped_at=90.0, waited=1.0), seen, SUBMIT)
    assert (after.note, after.waited, action) == (note, 1.0, Action.NOTHING)


def test_a_first_prompt_does_not_answer_a_question() -> None:
    """A question is rest for `send`, not for what a member was made for; it too waits for the person."""
    seen = sight(box(footer=QUESTION), settled=True)
    assert step(WAITING, seen, SUBMIT)[1] is Action.LOAD
    after, action = step(replace(WAITING, first=True, stepped_at=90.0), seen, SUBMIT)
    assert (after.note, after.waited, action) == (ASKED, 0.0, Action.NOTHING)
    loaded = replace(WAITING, phase=Phase.LOADED, first=True)
    assert step(loaded, replace(seen, buffer=True), SUBMIT)[1] is Action.NOTHING


def test_the_row_says_after_a_while_what_it_waits_for() -> None:
    """Work is not worth a note for 30 s."""
    seen = sight(box(footer=WORKING))
    assert step(replace(WAITING, waited=SAY_AFTER - 1), seen, SUBMIT)[0].note == ""
    assert step(replace(WAITING, waited=SAY_AFTER + 1), seen, SUBMIT)[0].note == "waits: it is working"
    restless = step(replace(WAITING, waited=SAY_AFTER + 1), replace(QUIET, settled=False), SUBMIT)[0]
    assert restless.note == "waits: its screen does not stand still"


def test_patience_ends_with_the_reason() -> None:
    """Time in which nobody looked counts as five seconds at most, and a clock set back as none."""
    seen = sight(box(footer=WORKING))
    assert step(replace(WAITING, stepped_at=0.0), seen, SUBMIT)[0].waited == 5.0
    assert step(replace(WAITING, stepped_at=500.0), seen, SUBMIT)[0].waited == 0.0
    assert step(replace(WAITING, stepped_at=None), seen, SUBMIT)[0].stepped_at == 100.0
    after, action = step(replace(WAITING, waited=601.0), seen, SUBMIT)
    assert (after.status, after.phase, after.typed) == (Status.NOT_SENT, "done", Typed.NO)
    assert (after.note, action) == ("not at rest within 10 min: it is working", Action.NOTHING)


@pytest.mark.parametrize(
    "seen",
    [
        replace(QUIET, settled=False, buffer=True),
        replace(QUIET, buffer=False),
        sight(list(PERMISSION), buffer=True, settled=True),
        sight(box("oh"), buffer=True, settled=True),
        sight(box(), in_mode=True, buffer=True, settled=True),
        Sight(unseen("no answer"), 100.0, buffer=True, settled=True),
    ],
)
def test_the_full_check_again_immediately_before_the_keys(seen: Sight) -> None:
    """Anything in the way, a stir or a missing buffer sends it back to waiting."""
    after, action = step(replace(WAITING, phase=Phase.LOADED), seen, SUBMIT)
    assert (after.phase, after.typed, action) == ("waiting", Typed.NO, Action.NOTHING)


def test_after_a_crash_the_buffer_tells() -> None:
    """The paste deletes it, and nothing else: still there means not pasted; gone means never paste again."""
    crashed = replace(WAITING, phase=Phase.PASTING, typed=Typed.UNKNOWN)
    again, action = step(crashed, replace(QUIET, buffer=True), SUBMIT)
    assert (again.phase, again.typed, action) == ("waiting", Typed.NO, Action.NOTHING)
    on, action = step(crashed, replace(QUIET, buffer=False), SUBMIT)
    assert (on.phase, on.typed, on.pasted_at, action) == ("echo", Typed.UNKNOWN, 100.0, Action.NOTHING)
    pressed, action = step(replace(SEEN, phase=Phase.PRESSING, presses=1, before="x"), OURS, SUBMIT)
    assert (pressed.phase, pressed.pressed_at, action) == ("proving", 100.0, Action.NOTHING)


def test_not_echoed_means_no_enter() -> None:
    """Not seen within two seconds: not sent, watched further, nothing pressed or pasted."""
    assert step(ECHO, QUIET, SUBMIT) == (ECHO, Action.NOTHING)
    after, action = step(ECHO, replace(QUIET, at=101.0), SUBMIT)
    assert (after.status, after.phase, after.note, action) == (
        Status.NOT_SENT,
        "watching",
        "not echoed",
        Action.NOTHING,
    )


def test_a_slow_recipe_has_its_own_time() -> None:
    """`submit.echo` and `submit.stall` are the recipe's."""
    slow = Submit(echo=9.0, stall=60.0)
    assert step(ECHO, replace(QUIET, at=107.9), slow)[0].status is Status.PENDING
    assert step(PROVING, replace(QUIET, at=158.0), slow)[0].status is Status.PENDING


def test_a_draft_beside_ours_is_not_submitted() -> None:
    """B035: somebody typed while we pasted; both stay where they are."""
    after, action = step(SEEN, sight(box(f"oh {TEXT}")), SUBMIT)
    assert (after.status, after.phase, action) == (Status.NOT_SENT, "watching", Action.NOTHING)
    assert "draft" in after.note


def test_the_gap_is_waited_for() -> None:
    """An Enter within 300 ms of a paste is ignored by some agents (B030)."""
    fresh = replace(ECHO, typed=Typed.YES)
    assert step(fresh, OURS, SUBMIT)[1] is Action.NOTHING
    assert step(replace(fresh, seen_at=99.8), OURS, SUBMIT)[1] is Action.NOTHING
    assert step(replace(fresh, seen_at=99.6), OURS, SUBMIT)[1] is Action.PRESS


def test_a_dialog_after_the_paste_waits_for_the_person() -> None:
    """Nothing is submitted into it, however long it stays; the echo is waited for anew afterwards."""
    after, action = step(SEEN, sight(list(PERMISSION), 200.0), SUBMIT)
    assert (after.phase, after.pasted_at, after.seen_at, action) == ("echo", 200.0, None, Action.NOTHING)
    assert "nothing was submitted" in after.note
    assert step(after, replace(OURS, at=200.1), SUBMIT)[0].note == ""


@pytest.mark.parametrize("rows", [box(TEXT, footer=WORKING), box(TEXT, footer="new")])
def test_no_enter_while_it_is_not_open(rows: list[str]) -> None:
    """Our text alone is not enough: working or unknown, and the row says why it was given up."""
    assert step(SEEN, sight(rows), SUBMIT)[1] is Action.NOTHING
    after, action = step(SEEN, sight(rows, 105.0), SUBMIT)
    assert (after.status, action) == (Status.NOT_SENT, Action.NOTHING)


def test_only_the_submit_key_is_repeated_and_bounded() -> None:
    """While our own text alone stands there: two more times, a second apart, then `stalled`."""
    assert step(PROVING, replace(OURS, at=99.9), SUBMIT)[1] is Action.NOTHING
    again, action = step(PROVING, OURS, SUBMIT)
    assert (again.phase, again.presses, action) == ("pressing", 2, Action.PRESS)
    assert step(replace(PROVING, presses=2), OURS, SUBMIT)[1] is Action.PRESS
    worn = replace(PROVING, presses=3)
    assert step(worn, OURS, SUBMIT) == (worn, Action.NOTHING)
    after, _ = step(worn, replace(OURS, at=104.0), SUBMIT)
    assert (after.status, after.note) == (Status.NOT_SENT, "stalled: its text is still in the composer")
    for rows in (box(f"oh {TEXT}"), list(PERMISSION), box(TEXT, footer=WORKING)):
        assert step(PROVING, sight(rows), SUBMIT)[1] is Action.NOTHING


def test_time_without_a_courier_is_not_the_agents_slowness() -> None:
    """A courier that comes a minute after the paste still repeats a lost key before it gives up."""
    late = replace(PROVING, pasted_at=39.0, seen_at=99.0, pressed_at=99.0)
    assert step(late, replace(OURS, at=103.9), SUBMIT)[1] is Action.PRESS
    assert step(late, replace(OURS, at=102.0), SUBMIT)[1] is Action.NOTHING


@pytest.mark.parametrize(
    ("seen", "evidence"),
    [
        (replace(OURS, took=("Fix the\n login bug.",)), "report"),
        (replace(OURS, stirred=True), "report"),
        (sight(box(footer=WORKING)), "screen"),
        (sight(list(PERMISSION)), "screen"),
        (sight(list(LIMIT)), "screen"),
        (sight(box(above=["> Fix", "● on it"])), "screen"),
        (replace(OURS, took=("Another prompt",)), ""),
        (sight(box()), ""),
        (sight(box("oh", above=["moved"])), ""),
        (sight(box(TEXT, above=["moved"])), ""),
        (sight(box(f"oh {TEXT}", footer=WORKING)), ""),
        (Sight(unseen("no answer"), 100.0), ""),
        (sight(["odd"]), ""),
    ],
)
def test_what_is_evidence_and_what_is_not(seen: Sight, evidence: str) -> None:
    """An emptied composer alone, a screen that moved alone, or a look that failed prove nothing."""
    after, _ = step(PROVING, seen, SUBMIT)
    assert after.evidence == evidence
    assert (after.status is Status.SENT) is bool(evidence)


def test_before_our_enter_only_the_agents_own_word_counts() -> None:
    """Work that began before the key was not for our prompt; a person's Enter on it is reported by its words."""
    assert step(SEEN, sight(box(footer=WORKING)), SUBMIT)[0].status is Status.PENDING
    assert step(SEEN, replace(OURS, stirred=True), SUBMIT)[0].status is Status.PENDING
    assert step(SEEN, replace(QUIET, took=(TEXT,)), SUBMIT)[0].status is Status.SENT
    assert (
        step(replace(WAITING, phase=Phase.LOADED), replace(QUIET, took=(TEXT,)), SUBMIT)[0].status is Status.PENDING
    )


def test_late_evidence_makes_it_sent() -> None:
    """A stalled prompt is watched for ten minutes, and no longer."""
    late, _ = step(WATCHED, sight(box(footer=WORKING), 300.0), SUBMIT)
    assert (late.status, late.note, late.done_at) == (Status.SENT, "", 300.0)
    assert step(WATCHED, replace(QUIET, at=99.0 + WATCH), SUBMIT)[0] == WATCHED
    over, _ = step(WATCHED, replace(QUIET, at=100.0 + WATCH), SUBMIT)
    assert (over.status, over.phase, over.note) == (Status.NOT_SENT, "done", "stalled")


@pytest.mark.parametrize("last", [Sight(gone(), 100.0, gone=True), sight(box(), dead=True)])
def test_a_watched_prompt_keeps_its_reason_when_the_agent_goes(last: Sight) -> None:
    """Red when a session that is gone overwrites why it was not sent, and leaves it open for ever."""
    after, _ = step(WATCHED, last, SUBMIT)
    assert (after.status, after.phase, after.note) == (Status.NOT_SENT, "done", "stalled")


@pytest.mark.parametrize("before", [WAITING, ECHO, PROVING])
def test_a_session_that_is_gone_leaves_it_pending(before: Delivery) -> None:
    """Nothing is lost and nothing typed; the row says so."""
    after, action = step(before, Sight(gone(), 100.0, gone=True), SUBMIT)
    assert (after.status, after.phase, action) == (Status.PENDING, before.phase, Action.NOTHING)
    assert "gone" in after.note


@pytest.mark.parametrize(
    ("note", "words", "expected"),
    [
        ("", "", "agent exited with code 1"),
        ("", "boom", "agent exited with code 1: boom"),
        ("it asks whether you trust the folder", "", "agent left at the trust question (exited with code 1)"),
        ("it asks you to log in", "", "agent left at the login question (exited with code 1)"),
    ],
)
def test_an_agent_that_leaves_is_told_with_its_words(note: str, words: str, expected: str) -> None:
    """B001, B024: exit code, last lines, and the question it left at."""
    seen = sight(box(), dead=True, exit_status=1, last_words=words)
    after, action = step(replace(WAITING, note=note), seen, SUBMIT)
    assert (after.status, after.phase, after.note, action) == (Status.NOT_SENT, "done", expected, Action.NOTHING)
    assert after.typed is Typed.NO


def test_what_tmux_refused_was_not_done() -> None:
    """A refused paste was not typed, a refused key not pressed; both may be tried again."""
    pasting = replace(WAITING, phase=Phase.PASTING, typed=Typed.UNKNOWN)
    assert rules.refused(pasting, Action.PASTE, "no") == replace(WAITING, note="no")
    back = rules.refused(replace(SEEN, phase=Phase.PRESSING, presses=1), Action.PRESS, "no")
    assert (back.phase, back.presses, back.seen_at) == ("echo", 0, None)
    assert rules.refused(replace(WAITING, phase=Phase.LOADED), Action.LOAD, "full").phase == Phase.WAITING


def test_given_up_from_outside() -> None:
    """Its member failed or its maker was interrupted; the first reason stays."""
    after = rules.failed(WAITING, "interrupted", 5.0)
    assert (after.status, after.phase, after.note, after.done_at) == (Status.NOT_SENT, "done", "interrupted", 5.0)
    assert rules.failed(WATCHED, "interrupted", 500.0).note == "stalled"


def retried(before: Delivery, rows: list[str], *, again: bool = False) -> Delivery | None:
    return rules.retry(before, reading(rows), SUBMIT, 200.0, again=again)


def test_retry_does_what_cannot_double_it() -> None:
    """Not typed: typed; still there: only submitted; else refused unless the person says `--again`."""
    untyped = replace(WATCHED, typed=Typed.NO, presses=0)
    one, two = retried(untyped, box()), retried(WATCHED, box(TEXT))
    assert one is not None
    assert two is not None
    assert (one.phase, one.status, one.note) == ("waiting", Status.PENDING, "")
    assert (two.phase, two.presses, two.pasted_at) == ("echo", 0, 200.0)
    assert retried(WATCHED, box()) is None
    assert retried(WATCHED, list(PERMISSION)) is None
    assert retried(replace(WATCHED, typed=Typed.UNKNOWN), box()) is None
    three = retried(WATCHED, box(), again=True)
    assert three is not None
    assert (three.phase, three.typed) == ("waiting", Typed.NO)


@pytest.mark.parametrize(("rows", "again"), [(box(TEXT), False), (box(), True)])
def test_a_retry_begins_with_nothing_of_the_first_try(rows: list[str], again: bool) -> None:
    """Red when the time of the first echo stays: the Enter would come without its gap."""
    fresh = retried(replace(WATCHED, seen_at=99.5, waited=9.0), rows, again=again)
    assert fresh is not None
    assert (fresh.seen_at, fresh.pressed_at, fresh.waited, fresh.evidence, fresh.done_at) == (
        None,
        None,
        0.0,
        "",
        None,
    )


DELIVERIES = st.builds(
    Delivery,
    st.just(1),
    st.just("m"),
    st.sampled_from([TEXT, "?", "a\n\nb"]),
    st.just(0.0),
    status=st.sampled_from([Status.PENDING, Status.NOT_SENT]),
    phase=st.sampled_from(Phase),
    typed=st.sampled_from(Typed),
    first=st.booleans(),
    waited=st.floats(0, 700),
    stepped_at=st.none() | st.floats(0, 300),
    pasted_at=st.none() | st.floats(0, 300),
    pressed_at=st.none() | st.floats(0, 300),
    seen_at=st.none() | st.floats(0, 300),
    done_at=st.none() | st.floats(0, 300),
    presses=st.integers(0, 4),
)
READINGS = [
    *(
        reading(rows)
        for rows in (box(), box(TEXT), box("oh"), box(f"oh {TEXT}"), box(footer=WORKING), box(footer=QUESTION))
    ),
    *(reading(list(rows)) for rows in (TRUST, PERMISSION, LIMIT, ("odd",))),
    *(gone(), held(), unseen("no"), reading(box(), dead=True), reading(box(), in_mode=True)),
]
SIGHTS = st.builds(
    Sight,
    st.sampled_from(READINGS),
    st.floats(0, 400),
    settled=st.booleans(),
    gone=st.booleans(),
    took=st.sampled_from([(), (TEXT,), ("x",)]),
    stirred=st.booleans(),
    buffer=st.booleans(),
)


@given(DELIVERIES, SIGHTS)
def test_from_any_record_and_any_sight(before: Delivery, seen: Sight) -> None:
    """Even from a record that no story leads to: each action only from its phase, under its conditions, on record."""
    after, action = step(before, seen, SUBMIT)
    if action is Action.PASTE:
        assert before.phase == Phase.LOADED
        assert (after.phase, after.typed) == ("pasting", Typed.UNKNOWN)
        assert seen.settled
        assert seen.buffer
        assert seen.reading.open
        assert not seen.reading.obstacle
    if action is Action.PRESS:
        assert before.phase in ("echo", "proving")
        assert (after.phase, after.presses) == ("pressing", before.presses + 1)
        assert seen.reading.open
        assert seen.reading.composer is not None
        assert seen.reading.composer.text == before.text
        assert before.phase == Phase.ECHO or before.presses <= SUBMIT.presses
    if action is Action.LOAD:
        assert (before.phase, after.phase) == ("waiting", "loaded")
    if after.status is Status.SENT:
        assert after.evidence
        assert seen.took == (TEXT,) or before.presses > 0
    assert (
        after.typed is not Typed.NO
        or before.typed is Typed.NO
        or (before.phase, after.phase)
        in (
            ("pasting", "waiting"),
            (before.phase, before.phase),
        )
    )
    assert seen.reading.state is not State.NEEDS_INPUT or seen.reading.open or action is Action.NOTHING
