"""One prompt's way into a composer, as a pure function: (delivery, what is seen, recipe) -> (delivery, action).

The courier records the new delivery before it takes the action. That order, and the rules here, carry the
promises: never typed unless at rest, never typed twice, always an end, never `sent` without evidence.

Phases of a `pending` delivery, in order:

    waiting   for rest; nothing has happened. `load` puts the text into a tmux buffer of its own
    loaded    the buffer is there; one more full check, then `typed` becomes unknown and it is pasted
    pasting   on record before the paste. Met again only after a crash: the buffer still there means not pasted
    echo      pasted; waits until the text is seen in the composer, then for the gap
    pressing  on record before the submit key
    proving   submitted; waits for evidence that the agent took it

`sent` ends in phase `done`, `not_sent` in `done` or in `watching`, where late evidence still makes it sent.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from fan.core.model import Delivery, Kind, Phase, State, Status, Typed, Witness
from fan.core.prompt import echo, same_words
from fan.core.reading import COPY_MODE, WAITS, Reading
from fan.core.recipe import Submit

SAY_AFTER = 30.0
ASKED = "it asks something before it was given anything to do"
REPRESS_AFTER = 1.0
WATCH = 600.0
COUNT_EVERY = 1.0
LARGEST_STEP = 5.0


class Action(StrEnum):
    """What the courier does next, once the delivery is on record."""

    NOTHING = "nothing"
    LOAD = "load"
    PASTE = "paste"
    PRESS = "press"


class Sight(Struct, frozen=True):
    """What is known of the target at one moment.

    `settled` is rest that has held (core.stillness). `took` are the prompts that the agent's own reports say it
    took since the paste, `stirred` whether it has reported work since the submit key; `seq` numbers its last
    report. `buffer` says whether the delivery's tmux buffer exists, `limit_over` that the time at which the usage
    limit on the screen ends has passed. `exit_told` is False
    while tmux has not said yet with what code a dead pane's process ended; `last_words` are its last lines.
    """

    reading: Reading
    at: float
    settled: bool = False
    gone: bool = False
    took: tuple[str, ...] = ()
    stirred: bool = False
    seq: int = 0
    buffer: bool = False
    limit_over: bool = False
    exit_told: bool = True
    last_words: str = ""


def step(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    """The delivery after what is seen, and what to do once it is on record."""
    if delivery.status is Status.SENT or delivery.phase is Phase.DONE:
        return delivery, Action.NOTHING
    if delivery.phase is not Phase.WAITING and (proof := _evidence(delivery, sight, submit)):
        return taken(delivery, sight.at, proof), Action.NOTHING
    if sight.gone and delivery.status is Status.PENDING:
        return _note(delivery, "its session is gone; fan resume opens it again"), Action.NOTHING
    if sight.reading.state is State.EXITED:
        return (_left(delivery, sight) if sight.exit_told else delivery), Action.NOTHING
    return _PHASES[delivery.phase](delivery, sight, submit)


def refused(delivery: Delivery, action: Action, why: str) -> Delivery:
    """The delivery after tmux refused `action` (pane dead, in copy mode): certain that nothing was typed by it."""
    if action is Action.PASTE:
        return replace(delivery, phase=Phase.WAITING, typed=Typed.NO, note=why)
    if action is Action.PRESS:
        return replace(delivery, phase=Phase.ECHO, presses=delivery.presses - 1, seen_at=None, note=why)
    return replace(delivery, phase=Phase.WAITING, note=why)


def done(delivery: Delivery, action: Action, at: float) -> Delivery:
    """The delivery after `action` succeeded."""
    if action is Action.PASTE:
        return replace(delivery, phase=Phase.ECHO, pasted_at=at)
    if action is Action.PRESS:
        return replace(delivery, phase=Phase.PROVING, pressed_at=at)
    return delivery


def superseded(delivery: Delivery) -> Delivery:
    """A watched delivery once another one is typed: what the screen shows from then on speaks of that one."""
    return replace(delivery, phase=Phase.DONE)


def failed(delivery: Delivery, why: str, at: float) -> Delivery:
    """The delivery given up for a reason outside of it (its member failed, its maker was interrupted)."""
    return _not_sent(delivery, why, at)


def taken(delivery: Delivery, at: float, proof: str) -> Delivery:
    """The delivery once a witness, `proof`, shows that the agent took the prompt."""
    return replace(
        delivery, status=Status.SENT, phase=Phase.DONE, typed=Typed.YES, note="", done_at=at, evidence=proof
    )


def retry(delivery: Delivery, seen: Reading, submit: Submit, at: float, *, again: bool) -> Delivery | None:
    """`fan send --retry`: type what was not typed, submit what is still in the composer; None: neither is safe.

    With `again` the person takes it upon them that the text may arrive twice.
    """
    fresh = replace(delivery, status=Status.PENDING, note="", waited=0.0, done_at=None, evidence="")
    fresh = replace(fresh, presses=0, pressed_at=None, seen_at=None)
    if delivery.typed is Typed.NO:
        return replace(fresh, phase=Phase.WAITING)
    if echo(seen.composer, delivery.text, submit) == "ours":
        return replace(fresh, phase=Phase.ECHO, pasted_at=at)
    return replace(fresh, phase=Phase.WAITING, typed=Typed.NO, pasted_at=None) if again else None


def _waiting(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    delivery = _spend_patience(delivery, sight)
    if delivery.waited > delivery.patience:
        why = sight.reading.obstacle or "it did not stand still"
        within = f"{delivery.patience / 60:.0f} min" if delivery.patience >= 60 else f"{delivery.patience:g} s"
        return _not_sent(delivery, f"not at rest within {within}: {why}", sight.at), Action.NOTHING
    obstacle = _obstacle(delivery, sight)
    if not obstacle and sight.settled:
        return replace(delivery, phase=Phase.LOADED, note=""), Action.LOAD
    if _is_held_up(delivery, sight.reading):
        return _note(delivery, obstacle + _when(sight.reading)), Action.NOTHING
    if delivery.waited > SAY_AFTER:
        return _note(delivery, f"waits: {obstacle or 'its screen does not stand still'}"), Action.NOTHING
    return _note(delivery, ""), Action.NOTHING


def _loaded(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    """The full check again, immediately before the keys."""
    if _obstacle(delivery, sight) or not sight.settled or not sight.buffer:
        return replace(delivery, phase=Phase.WAITING), Action.NOTHING
    ready_by = sight.reading.decided_by.value
    return replace(
        delivery, phase=Phase.PASTING, typed=Typed.UNKNOWN, ready_by=ready_by, report_seq=sight.seq
    ), Action.PASTE


def _pasting(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    """After a crash between the record and the paste: the buffer is deleted by the paste, and by nothing else."""
    if sight.buffer:
        return replace(delivery, phase=Phase.WAITING, typed=Typed.NO), Action.NOTHING
    return replace(delivery, phase=Phase.ECHO, pasted_at=sight.at), Action.NOTHING


def _echo(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    reading, at = sight.reading, sight.at
    if reading.is_dialog or reading.obstacle == COPY_MODE:
        note = f"after the paste {reading.obstacle}; nothing was submitted"
        return replace(delivery, pasted_at=at, seen_at=None, typed=Typed.YES, note=note), Action.NOTHING
    shown = echo(reading.composer, delivery.text, submit)
    if shown == "mixed":
        why = "somebody's draft stands beside it in the composer; not submitted"
        return _watched(replace(delivery, typed=Typed.YES), why, at), Action.NOTHING
    if shown == "ours":
        seen_at = at if delivery.seen_at is None else delivery.seen_at
        delivery = replace(delivery, seen_at=seen_at, typed=Typed.YES, note="")
        if at - seen_at >= submit.gap and _is_open(sight):
            pressed = replace(delivery, phase=Phase.PRESSING, presses=delivery.presses + 1, before=reading.above)
            return pressed, Action.PRESS
        return _give_up(delivery, seen_at + submit.stall, reading.obstacle or "it is not at rest", at)
    since = delivery.pasted_at if delivery.pasted_at is not None else at
    return _give_up(replace(delivery, seen_at=None), since + submit.echo, "not echoed", at)


def _pressing(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    """After a crash between the record and the key: as if it had been pressed; the text still there allows more."""
    return replace(delivery, phase=Phase.PROVING, pressed_at=sight.at), Action.NOTHING


def _proving(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    reading, at = sight.reading, sight.at
    pressed_at = delivery.pressed_at if delivery.pressed_at is not None else at
    still_there = echo(reading.composer, delivery.text, submit) == "ours"
    if (
        still_there
        and _is_open(sight)
        and at - pressed_at >= _repress_after(delivery, submit)
        and delivery.presses <= submit.presses
    ):
        return replace(delivery, phase=Phase.PRESSING, presses=delivery.presses + 1), Action.PRESS
    why = "stalled: its text is still in the composer" if still_there else "stalled: no sign that it was taken"
    return _give_up(delivery, pressed_at + submit.stall, why, at)


def _repress_after(delivery: Delivery, submit: Submit) -> float:
    """An agent that was slow to show the paste is slow to take the key as well; time without a courier is not it."""
    if delivery.seen_at is None or delivery.pasted_at is None:
        return REPRESS_AFTER
    return max(REPRESS_AFTER, 2 * min(delivery.seen_at - delivery.pasted_at, submit.echo))


def _watching(delivery: Delivery, sight: Sight, submit: Submit) -> tuple[Delivery, Action]:
    if delivery.done_at is not None and sight.at - delivery.done_at > WATCH:
        return replace(delivery, phase=Phase.DONE), Action.NOTHING
    return delivery, Action.NOTHING


_PHASES = {
    Phase.WAITING: _waiting,
    Phase.LOADED: _loaded,
    Phase.PASTING: _pasting,
    Phase.ECHO: _echo,
    Phase.PRESSING: _pressing,
    Phase.PROVING: _proving,
    Phase.WATCHING: _watching,
}


def _evidence(delivery: Delivery, sight: Sight, submit: Submit) -> str:
    """Which witness shows that the agent took the prompt, or nothing."""
    if delivery.typed is Typed.NO:
        return ""
    if any(same_words(told, delivery.text) for told in sight.took):
        return Witness.REPORT.value
    if delivery.presses == 0:
        return ""
    if sight.stirred:
        return Witness.REPORT.value
    reading = sight.reading
    if echo(reading.composer, delivery.text, submit) != "none":
        return ""
    new_limit = reading.state is State.LIMITED and not sight.limit_over
    if reading.state is State.WORKING or reading.is_dialog or new_limit:
        return reading.decided_by.value
    emptied = reading.composer is not None and not reading.composer.text
    return Witness.SCREEN.value if emptied and reading.above != delivery.before else ""


def _left(delivery: Delivery, sight: Sight) -> Delivery:
    """The agent has exited before there was any evidence."""
    how = sight.reading.detail.removeprefix("its agent ")
    asked = next((kind for kind, words in WAITS.items() if delivery.note.startswith(words)), "")
    why = f"agent left at the {asked} question ({how})" if asked else f"agent {how}"
    if sight.last_words:
        why += f": {sight.last_words}"
    return _not_sent(delivery, why, sight.at)


def _spend_patience(delivery: Delivery, sight: Sight) -> Delivery:
    """Time spent waiting for a person or a limit is not counted, nor time in which nobody looked."""
    if delivery.stepped_at is None:
        return replace(delivery, stepped_at=sight.at)
    passed = sight.at - delivery.stepped_at
    if 0 <= passed < COUNT_EVERY:
        return delivery
    passed = min(max(passed, 0.0), LARGEST_STEP)
    if _is_held_up(delivery, sight.reading):
        passed = 0.0
    return replace(delivery, stepped_at=sight.at, waited=delivery.waited + passed)


def _is_open(sight: Sight) -> bool:
    """Whether words would land in the composer; a limit's notice stands beside it until the next turn."""
    reading = sight.reading
    return reading.open or (reading.state is State.LIMITED and sight.limit_over and reading.composer is not None)


def _obstacle(delivery: Delivery, sight: Sight) -> str:
    """Why nothing may be typed now; a question of the agent's is rest, but not for a member's first prompt."""
    reading = sight.reading
    if reading.state is State.LIMITED and _is_open(sight) and reading.composer and not reading.composer.text:
        return ""
    return reading.obstacle or (ASKED if delivery.first and reading.kind == Kind.QUESTION else "")


def _is_held_up(delivery: Delivery, reading: Reading) -> bool:
    """Whether it is the person's turn or a limit's, which does not use up patience."""
    is_limited = reading.state is State.LIMITED
    return is_limited or reading.waits_for_person or (delivery.first and reading.kind == Kind.QUESTION)


def _when(reading: Reading) -> str:
    return f" ({reading.detail})" if reading.detail not in ("", reading.obstacle) else ""


def _note(delivery: Delivery, note: str) -> Delivery:
    return replace(delivery, note=note)


def _give_up(delivery: Delivery, deadline: float, why: str, at: float) -> tuple[Delivery, Action]:
    return (_watched(delivery, why, at) if at >= deadline else delivery), Action.NOTHING


def _watched(delivery: Delivery, why: str, at: float) -> Delivery:
    if delivery.phase is Phase.WATCHING:
        return delivery
    typed = Typed.YES if delivery.typed is Typed.UNKNOWN else delivery.typed
    return replace(delivery, status=Status.NOT_SENT, phase=Phase.WATCHING, typed=typed, note=why, done_at=at)


def _not_sent(delivery: Delivery, why: str, at: float) -> Delivery:
    if delivery.status is Status.NOT_SENT:
        return replace(delivery, phase=Phase.DONE)
    return replace(delivery, status=Status.NOT_SENT, phase=Phase.DONE, note=why, done_at=at)
