"""What the demo does, step by step: generators that the app plays."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from fan.demo import home, note, telling
from fan.demo.desk import Desk
from fan.demo.draw import ACCENT, GREY, Entry
from fan.demo.menu import Dialog, Login, Menu
from fan.demo.text import POINTER

BLANK_SECONDS = 0.3
DEATH_SECONDS = 0.7
LIMIT = "Usage limit reached · resets 3pm"
ERROR = "API Error: 500 demo error"
QUESTION = "? Which one: a or b"


class Face(Enum):
    """What stands at the bottom when no dialog does: nothing, a deaf composer, a composer."""

    BLANK = "blank"
    DEAF = "deaf"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Pause:
    """Go on after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Show:
    """Draw this face from now on."""

    face: Face


@dataclass(frozen=True, slots=True)
class Ask:
    """Show a dialog; its answer is sent back."""

    dialog: Dialog


@dataclass(frozen=True, slots=True)
class Do:
    """Run this beside the screen; what it says is sent back."""

    job: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Quit:
    """Leave with this exit code and last line."""

    code: int
    words: str = ""


Step = Pause | Show | Ask | Do | Quit | Entry
Script = Generator[Step, Any, None]


def startup(desk: Desk) -> Script:
    """From a blank screen to a composer that takes keys."""
    wanted = desk.behaviours
    yield Pause(BLANK_SECONDS)
    if wanted.trust and not (yield from _trusted(desk)):
        yield Quit(0)
    if wanted.login:
        yield Ask(Login())
    yield Entry(f"demo 1 · {desk.model}\n{desk.place}", "✻", ACCENT)
    if wanted.die is not None:
        yield Pause(DEATH_SECONDS)
        yield Quit(wanted.die, f"demo: died as asked, exit code {wanted.die}")
    if wanted.slow:
        yield Show(Face.DEAF)
        yield Pause(wanted.slow)
    for kind, text in desk.transcript.items():
        if text:
            yield _user(text) if kind == "user" else Entry(text, "●")
    yield Show(Face.OPEN)
    desk.reporter.report("rest", "SessionStart")


def turn(desk: Desk, prompt: str) -> Script:
    """One turn, from the submitted prompt to the last words; closed early, it was interrupted."""
    desk.begin(prompt)
    try:
        yield _user(prompt)
        yield _pause(desk)
        refusal = yield from _failure(desk)
        if not refusal:
            yield from _work(desk, prompt)
    except GeneratorExit:
        desk.end("Interrupted", event="Interrupted")
        raise


def _work(desk: Desk, prompt: str) -> Script:
    yield Entry(f"I have read the task: {desk.topic}.", "●")
    yield _pause(desk)
    path = note.path_of(desk.turn)
    if desk.behaviours.permission:
        desk.reporter.report("needs_input", "PermissionRequest", kind="permission", prompt=prompt)
        if (yield Ask(Menu((f"Do you want to create {path}?",), ("Yes", "No"), on_escape=1))):
            yield from _say_last(desk, f"Not done: you did not allow {path}.")
            return
        desk.reporter.report("working", "PermissionAnswered", prompt=prompt)
    yield Entry("I write it down and commit it.", "●")
    result = yield Do(lambda: note.write(desk.folder, desk.turn, prompt, desk.topic))
    yield _pause(desk)
    if desk.behaviours.question and not desk.asked:
        desk.asked, desk.footer = True, QUESTION
        yield Entry(f"I {result}. I can go on in two ways.", "●")
        desk.end("Which one: a or b", state="needs_input", event="Question", kind="question")
        return
    desk.asked = False
    words = f"Done: {result}."
    if telling.is_asked(prompt):
        words += f" {(yield Do(lambda: telling.tell(os.environ, words)))}"
    yield from _say_last(desk, words)


def _failure(desk: Desk) -> Generator[Step, Any, bool]:
    """Plays the limit or error that this turn runs into; says whether the turn is over with it."""
    if desk.turns <= desk.behaviours.limit:
        desk.reporter.report("limited", "StopFailure")
        if not (yield Ask(Menu((LIMIT,), ("Wait", "Switch")))):
            desk.footer = LIMIT
            yield Entry(LIMIT, "●", ACCENT)
            desk.end(LIMIT, state="limited", event="StopFailure")
            return True
        desk.reporter.report("working", "LimitLifted")
    if desk.turns <= desk.behaviours.error:
        desk.footer = "API error · send again to retry"
        yield Entry(ERROR, "●", ACCENT)
        desk.end(ERROR, state="errored", event="StopFailure")
        return True
    return False


def _trusted(desk: Desk) -> Generator[Step, Any, bool]:
    asks = desk.behaviours.trust
    place = note.repository(desk.folder) if asks == "repository" else desk.folder
    if asks != "always" and home.trusts(desk.home, place):
        return True
    question = ("Do you trust the files in this folder?", "", desk.place)
    refused = yield Ask(Menu(question, ("Yes, I trust this folder", "No, exit")))
    if not refused and asks != "always":
        home.trust(desk.home, place)
    return not refused


def _say_last(desk: Desk, words: str) -> Script:
    yield Entry(words, "●")
    desk.end(words)


def _user(prompt: str) -> Entry:
    lines = prompt.split("\n")
    more = f"\n… +{len(lines) - 12} lines" if len(lines) > 12 else ""
    return Entry("\n".join(lines[:12])[:4000] + more, POINTER, GREY)


def _pause(desk: Desk) -> Pause:
    return Pause(0.5 / desk.behaviours.speed)
