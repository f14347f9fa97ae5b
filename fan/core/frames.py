"""Recorded screens: how a frame becomes a look, and what a recipe reads in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from fan.core.model import Look, Pane, State
from fan.core.reading import Reading, Tried, read
from fan.core.recipe import Recipe
from fan.core.screen import parse

AT = 1_000_000_000.0
# The label of frames whose last turn failed; an open composer after it is rest as well.
ERROR = ("error", "errored")


@dataclass(frozen=True, slots=True)
class Frame:
    """A recorded screen with its true state as it was labelled. `age` is seconds since launch, if it is known.

    `transition` frames were caught between two states; `file` is the name below the folder that was read.
    """

    file: str
    agent: str
    state: str
    kind: str
    transition: bool
    age: float | None
    look: Look

    @property
    def size(self) -> str:
        """Columns and rows, such as `80x24`."""
        return "{}x{}".format(*self.look.pane.size)


@dataclass(frozen=True, slots=True)
class Scored:
    """A frame and what was read. `why` names the rules that decided, or what was missing."""

    frame: Frame
    state: State
    kind: str
    why: str

    @property
    def is_false_rest(self) -> bool:
        """Whether something would have been typed where it must not be."""
        return self.state is State.REST and self.frame.state not in (State.REST, *ERROR)

    @property
    def is_missed_rest(self) -> bool:
        """Whether an agent at rest was not recognised."""
        return self.frame.state == State.REST and self.state is not State.REST


def frame(file: str, agent: str, screen: str, facts: Mapping[str, Any]) -> Frame:
    """The frame of one capture and the facts beside it; what is not among them is taken as unremarkable.

    Raises KeyError without a `state`, ValueError or TypeError when a fact is not what it should be.
    """
    lines = parse(screen)
    age = facts.get("ms_since_start")
    width = max(len(line.text) for line in lines)
    column, row = facts.get("cursor") or (0, 0)
    pane = Pane(
        id="%0",
        session="",
        session_id="$0",
        launch="",
        pid=0,
        command=str(facts.get("current_command", agent)),
        title=str(facts.get("title", "")),
        dead=bool(facts.get("pane_dead", False)),
        exit_status=None,
        in_mode=False,
        cursor=(int(column), int(row)),
        cursor_shown=bool(facts.get("cursor_flag", True)),
        size=(int(facts.get("cols", width)), int(facts.get("rows", len(lines)))),
    )
    return Frame(
        file=file,
        agent=agent,
        state=str(facts["state"]),
        kind=str(facts.get("kind") or ""),
        transition=bool(facts.get("transition", False)),
        age=None if age is None else float(age) / 1000,
        look=Look(pane, lines, AT),
    )


def read_frame(recipe: Recipe, one: Frame) -> Reading:
    """What the screen and the title of a frame say by themselves.

    A frame has no report, so hooks are left out: their `grace` would hide every rest of a young launch. Its age
    is used where it is known.
    """
    launched_at = None if one.age is None else AT - one.age
    return read(replace(recipe, hooks=None), one.look, None, launched_at)


def score(recipe: Recipe, frames: Iterable[Frame]) -> list[Scored]:
    """Each frame with what `recipe` reads in it, in their order."""
    return [_scored(one, read_frame(recipe, one)) for one in frames]


def matrix(scored: Iterable[Scored]) -> dict[str, dict[str, dict[str, int]]]:
    """How often each state was read, by agent and true state."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in scored:
        row = found.setdefault(one.frame.agent, {}).setdefault(one.frame.state, {})
        row[one.state] = row.get(one.state, 0) + 1
    return found


def _scored(one: Frame, reading: Reading) -> Scored:
    return Scored(one, reading.state, reading.kind, _why(reading))


def _why(reading: Reading) -> str:
    """The rules that prove the state that was read, or what was missing for any."""
    rules = [_named(tried) for tried in reading.tried if tried.matched and tried.rule.state is reading.state]
    return " and ".join(rules) or reading.detail or "no rule fits the screen"


def _named(tried: Tried) -> str:
    return f"`{tried.rule.match[0]}` is in the {tried.rule.region}"
