"""The promises of a delivery, tried against a pane to which anything may happen and a courier that may die."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from fan.core import delivery as rules
from fan.core.delivery import Action, Sight, step
from fan.core.model import Delivery, State, Status, Typed
from tests.core.pane_model import RECIPES, SUBMIT, Courier, PaneModel

PROMPT = "Fix the login bug and add a test."
# fmt: off
EVENTS = [
    *["tick"] * 20, *["finish", "answer", "scroll"] * 2, "dialog", "limit", "odd", "background", "notice", "type",
    "type_first", "clear", "enter", "lose_load", "lose_paste", "lose_keys", "look_fails", "die", "close",
]
RACES = [*["tick"] * 10, "dialog", "type", "type_first", "scroll", "background", "notice", "die"]
# fmt: on
POINTS = [f"{when} {action}" for when in ("before", "after") for action in ("load", "paste", "press")]


@dataclass(frozen=True)
class Turn:
    """What happens between two looks: an event, time passing, and where the courier dies (empty: nowhere).

    `race` comes after the courier looked and before it acts: the race that nobody can close.
    """

    event: str
    passed: float
    crash: str = ""
    race: str = "tick"


TURNS = st.lists(
    st.builds(
        Turn,
        st.sampled_from(EVENTS),
        st.sampled_from([0.05, 0.3, 0.75, 0.75, 1.1, 6.0]),
        st.sampled_from(["", "", "", "", "", "", "idle", *POINTS]),
        st.sampled_from(RACES),
    ),
    max_size=20,
)


@dataclass
class Story:
    """One delivery through all that happens; `record` is what is on disk."""

    pane: PaneModel
    record: Delivery
    courier: Courier = field(init=False)
    allowed: int = 1
    """How many pastes the person has allowed (a retry `--again` allows one more)."""
    earlier: int = 0
    """How many pastes belong to an attempt that the person has given up by `--again`."""

    def __post_init__(self) -> None:
        self.courier = Courier(self.pane)
        self.courier.sight(self.record)

    def turn(self, turn: Turn) -> None:
        """The event, then one tick of the courier as its loop does it."""
        self.pane.happen(turn.event)
        self.pane.now += turn.passed
        if turn.crash == "idle":
            self.courier = Courier(self.pane)
        for _ in range(8):
            sight = self.courier.sight(self.record)
            before, (stepped, action) = self.record, step(self.record, sight, SUBMIT)
            self.check_step(before, stepped, action, sight)
            self.record = stepped
            if action is Action.NOTHING or self.pane.mode == "gone":
                break
            if turn.crash == f"before {action}":
                self.courier = Courier(self.pane)
                break
            self.pane.happen(turn.race)
            outcome = self.pane.act(action, stepped.text)
            self.check_pane()
            if turn.crash == f"after {action}":
                self.courier = Courier(self.pane)
                break
            self.record = self.answered(action, outcome)
            if self.record.phase == "waiting":
                break
            self.pane.now += 0.01
        self.check_pane()

    def answered(self, action: Action, outcome: str) -> Delivery:
        if outcome == "done":
            return rules.done(self.record, action, self.pane.now)
        return rules.refused(self.record, action, outcome)

    def check_step(self, before: Delivery, after: Delivery, action: Action, sight: Sight) -> None:
        """What must hold of every single step, by what is really on the pane."""
        if action is Action.PASTE:
            assert (self.pane.mode, self.pane.draft, self.pane.in_mode) == ("rest", [], False), "typed into something"
            assert sight.reading.open
            assert not sight.reading.obstacle
            assert sight.settled
            assert sight.buffer
            assert self.courier.stood_still(), "typed while the screen moved"
            assert after.typed is Typed.UNKNOWN, "not on record before the paste"
        if action is Action.PRESS:
            assert self.pane.mode == "rest"
            assert not self.pane.in_mode
            assert [author for author, _ in self.pane.draft] == ["fan"], "a bare or a shared Enter"
            assert sight.reading.open
            assert after.presses == before.presses + 1, "not on record before the key"
        if before.status is not Status.SENT and after.status is Status.SENT:
            self.check_evidence(before, after, sight)
        if before.phase == after.phase == "waiting" and self.is_held_up(sight):
            assert after.waited == before.waited, "patience used up by a person or a limit"

    def check_evidence(self, before: Delivery, after: Delivery, sight: Sight) -> None:
        """`sent` names a witness that can be seen, and is true where nobody else had a hand in it."""
        assert after.evidence
        assert before.typed is not Typed.NO
        told = any(PROMPT in prompt for prompt in sight.took)
        moved = sight.reading.above != before.before and self.pane.draft == []
        assert told or before.presses > 0
        assert told or moved or sight.stirred or self.pane.mode in ("working", "dialog", "limit")
        assert self.pane.meddled or [("fan", PROMPT)] in self.pane.taken, "sent, but never taken"

    def is_held_up(self, sight: Sight) -> bool:
        """Whose turn it is by what is on the pane; a limit may hide for seconds behind a fresh report of work."""
        is_visible = sight.reading.state not in (State.UNKNOWN, State.EXITED, State.WORKING)
        return is_visible and (
            self.pane.mode in ("dialog", "limit")
            or self.pane.in_mode
            or (self.pane.mode == "rest" and self.pane.draft != [])
        )

    def check_pane(self) -> None:
        """What must hold at any moment, a crash included."""
        assert len(self.pane.typed) <= self.allowed, "typed twice"
        assert sum(("fan", PROMPT) in draft for draft in self.pane.taken) <= self.allowed, "taken twice"
        assert self.pane.pressed <= self.allowed * (SUBMIT.presses + 1), "pressed without end"
        assert len(self.pane.typed) == self.earlier or self.record.typed is not Typed.NO, (
            "the record denies what was typed"
        )

    def until_quiet(self) -> None:
        """Nothing further happens; the courier goes on for as long as any limit of time could last."""
        for _ in range(40):
            if self.record.status is Status.PENDING:
                self.turn(Turn("tick", 0.8))

    def is_at_an_end(self) -> bool:
        """Sent or not sent, or it waits for the person, a limit or a session that is gone, and says so."""
        if self.record.status is not Status.PENDING:
            return self.record.status is Status.SENT or bool(self.record.note)
        waits = self.pane.mode in ("dialog", "limit", "gone") or self.pane.in_mode or bool(self.pane.draft)
        return waits and bool(self.record.note)


def story(*, hooks: bool, first: bool = False) -> Story:
    """A prompt for an agent at rest, with 5 s of patience."""
    return Story(PaneModel(RECIPES[hooks]), Delivery(1, "m", PROMPT, 1000.0, patience=5.0, first=first))


@settings(max_examples=500, deadline=None)
@given(TURNS, st.booleans())
def test_whatever_happens_the_promises_hold(turns: list[Turn], hooks: bool) -> None:
    """Never typed but at settled rest, never twice, no Enter but on our own text alone, no `sent` without evidence.

    It always ends, or says what it waits for, also when the courier dies between record and act. Red when `_loaded`
    no longer asks for `settled`, for the obstacle or for the buffer, when `_pasting` pastes again, when `_echo`
    presses on `mixed`, when presses are not bounded, when time with a dialog counts.
    """
    told = story(hooks=hooks)
    for turn in turns:
        told.turn(turn)
    told.until_quiet()
    assert told.is_at_an_end(), told.record


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["idle", "", *POINTS]), st.sampled_from([0.05, 0.4, 0.75])), max_size=30),
    st.booleans(),
    st.integers(0, 2),
)
def test_a_crash_at_any_point_loses_and_doubles_nothing(
    crashes: list[tuple[str, float]], hooks: bool, lost_keys: int
) -> None:
    """With a well-behaved agent and a courier that dies again and again, the prompt is taken exactly once or told.

    Red when a crash before the paste counts as pasted, or one after it as not pasted.
    """
    told = story(hooks=hooks)
    told.pane.lost_keys = lost_keys
    for crash, passed in crashes:
        told.turn(Turn("tick", passed, crash))
    told.until_quiet()
    taken = [[("fan", PROMPT)]]
    assert told.pane.taken in ([], taken)
    assert told.record.status is not Status.SENT or told.pane.taken == taken
    assert (told.record.typed is Typed.NO) == (told.pane.typed == [])
    if not crashes:
        assert told.record.status is Status.SENT


@settings(max_examples=100, deadline=None)
@given(TURNS, TURNS, st.booleans(), st.booleans())
def test_a_retry_types_only_what_was_not_typed(turns: list[Turn], more: list[Turn], hooks: bool, again: bool) -> None:
    """After any story a retry types what was never typed, submits what still stands there, or refuses.

    Only `--again` allows a second paste. Red when a retry forgets that something was typed.
    """
    told = story(hooks=hooks)
    for turn in turns:
        told.turn(turn)
    told.until_quiet()
    if told.record.status is not Status.NOT_SENT:
        return
    stands = [author for author, _ in told.pane.draft] == ["fan"] and told.pane.mode in ("rest", "working", "dead")
    typed = told.record.typed is not Typed.NO
    sight = told.courier.sight(told.record)
    retried = rules.retry(told.record, sight.reading, SUBMIT, told.pane.now, again=again)
    assert (retried is None) == (typed and not stands and not again)
    if retried is None:
        return
    told.record = retried
    if typed and retried.phase == "waiting":
        told.allowed, told.earlier = len(told.pane.typed) + 1, len(told.pane.typed)
    told.pane.pressed = 0
    told.pane.meddled = True
    for turn in more:
        told.turn(turn)
    told.until_quiet()
    assert told.is_at_an_end(), told.record
