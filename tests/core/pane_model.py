"""A model of a pane: an agent with a composer, a person at it, and tmux between us and them. Pure and scripted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fan.core.delivery import Action, Sight
from fan.core.model import Delivery, Look, Report, State
from fan.core.reading import Reading, gone, read, unseen
from fan.core.recipe import Recipe, Submit
from fan.core.stillness import Stillness, observe, settled
from tests.core.scene import LIMIT, PERMISSION, REST, WORKING, box, look, recipe

Author = Literal["fan", "person"]
Mode = Literal["rest", "working", "dialog", "limit", "odd", "dead", "gone"]
SUBMIT = Submit(presses=2)
RECIPES = {hooks: recipe(hooks=hooks) for hooks in (False, True)}
STUB = "[Pasted text]"


@dataclass
class PaneModel:
    """`taken` are the drafts that the agent took, each as its parts; `typed` and `pressed` what tmux did for us."""

    recipe: Recipe
    now: float = 1000.0
    mode: Mode = "rest"
    draft: list[tuple[Author, str]] = field(default_factory=list)
    in_mode: bool = False
    blind: bool = False
    talk: int = 0
    buffer: str | None = None
    lose_paste: bool = False
    lose_load: bool = False
    lost_keys: int = 0
    taken: list[list[tuple[Author, str]]] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    payloads: dict[int, str] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    pressed: int = 0
    meddled: bool = False
    """Whether somebody else than we changed the composer or what stands over it since our paste."""

    # What happens by itself or by a person's hand

    def happen(self, event: str) -> None:
        """One event; those that make no sense now change nothing."""
        if self.mode in ("dead", "gone"):
            return
        if self.typed and event not in ("finish", "answer", "tick", "lose_keys", "look_fails"):
            self.meddled = True
        getattr(self, f"_{event}")()

    def _tick(self) -> None:
        """Nothing but time."""

    def _look_fails(self) -> None:
        self.blind = True

    def _finish(self) -> None:
        if self.mode == "working":
            self.mode, self.talk = "rest", self.talk + 1
            self._tell(State.REST)

    def _dialog(self) -> None:
        self.mode = "dialog"

    def _limit(self) -> None:
        self.mode = "limit"

    def _odd(self) -> None:
        self.mode = "odd"

    def _answer(self) -> None:
        if self.mode in ("dialog", "limit", "odd"):
            self.mode = "rest"

    def _notice(self) -> None:
        self.talk += 1

    def _type(self) -> None:
        if self.mode == "rest" and not self.in_mode:
            self.draft.append(("person", "oh"))

    def _type_first(self) -> None:
        if self.mode == "rest" and not self.in_mode:
            self.draft.insert(0, ("person", "oh"))

    def _clear(self) -> None:
        self.draft.clear()

    def _enter(self) -> None:
        if self.mode == "rest" and not self.in_mode:
            self._take()

    def _scroll(self) -> None:
        self.in_mode = not self.in_mode

    def _lose_paste(self) -> None:
        self.lose_paste = True

    def _lose_keys(self) -> None:
        self.lost_keys += 3

    def _lose_load(self) -> None:
        self.lose_load = True

    def _background(self) -> None:
        """Work that began by itself, whatever stands in the composer."""
        if self.mode == "rest":
            self.mode = "working"

    def _die(self) -> None:
        self.mode = "dead"

    def _close(self) -> None:
        self.mode, self.buffer = "gone", None

    def _take(self) -> None:
        """What Enter does in the composer."""
        if self.draft:
            self.taken.append(list(self.draft))
            self.draft.clear()
            self.mode, self.talk = "working", self.talk + 1
            self._tell(State.WORKING, "".join(text for _, text in self.taken[-1]))

    def _tell(self, state: State, prompt: str = "") -> None:
        if self.recipe.hooks:
            seq = len(self.reports) + 1
            self.reports.append(Report(seq, "m", "l", state, "", self.now, ""))
            self.payloads[seq] = prompt

    # What we do through tmux

    def act(self, action: Action, text: str) -> str:
        """The outcome as the tmux door tells it; a dead pane or copy mode gets nothing."""
        if action is Action.LOAD:
            self.buffer = None if self.lose_load else text
            self.lose_load = False
            return "done"
        refusal = {"gone": "gone", "dead": "dead"}.get(self.mode, "mode" if self.in_mode else "")
        if refusal:
            return refusal
        if action is Action.PASTE:
            assert self.buffer is not None, "a paste without its buffer"
            self.typed.append(self.buffer)
            if not self.lose_paste and self.mode == "rest":
                self.draft.append(("fan", self.buffer))
            self.buffer, self.lose_paste = None, False
        else:
            self.pressed += 1
            if self.mode == "rest" and not self.lost_keys:
                self._take()
            self.lost_keys = max(self.lost_keys - 1, 0)
        return "done"

    # What is seen

    def rows(self) -> list[str]:
        """The screen, its footer's clock ticking."""
        above = [f"line {number}" for number in range(self.talk)]
        if self.mode == "dialog":
            return [*above, *PERMISSION]
        if self.mode == "limit":
            return [*above, *LIMIT]
        if self.mode == "odd":
            return ["loading"]
        draft = "\n".join(text for _, text in self.draft)
        return box(draft, footer=WORKING if self.mode == "working" else f"{REST} {self.now:.0f}", above=above)

    def look(self) -> Look:
        """One look at it."""
        return look(self.rows(), at=self.now, dead=self.mode == "dead", exit_status=1, in_mode=self.in_mode)

    def reading(self) -> Reading:
        """What the look means."""
        if self.mode == "gone":
            return gone()
        if self.blind:
            self.blind = False
            return unseen("tmux did not answer")
        return read(self.recipe, self.look(), self.reports[-1] if self.reports else None, 0.0)


@dataclass
class Courier:
    """One courier's memory, which a crash loses: how still the screen stood, and each look as it was."""

    pane: PaneModel
    stillness: Stillness | None = None
    looks: list[tuple[float, list[str]]] = field(default_factory=list)

    def sight(self, delivery: Delivery) -> Sight:
        """What is known now, as the loop gathers it."""
        pane = self.pane
        seen = pane.reading()
        self.stillness = observe(self.stillness, seen.still, pane.now)
        self.looks.append((pane.now, [row for row in pane.rows() if REST not in row] + [pane.mode]))
        told = [one for one in pane.reports if one.seq > delivery.report_seq]
        pressed = delivery.pressed_at
        return Sight(
            reading=seen,
            at=pane.now,
            settled=settled(self.stillness, pane.now),
            gone=pane.mode == "gone",
            took=tuple(prompt for one in told if (prompt := pane.payloads[one.seq])),
            stirred=pressed is not None and any(one.state is State.WORKING and one.at >= pressed for one in told),
            seq=told[-1].seq if told else delivery.report_seq,
            buffer=pane.buffer is not None,
        )

    def stood_still(self) -> bool:
        """Whether two looks apart saw the same screen for 700 ms up to now, by what was drawn, not by the rules."""
        at, screen = self.looks[-1]
        alike = []
        for when, rows in reversed(self.looks):
            if rows != screen:
                break
            alike.append(when)
        return at - alike[-1] >= 0.7 and any(at - when >= 0.2 for when in alike)
