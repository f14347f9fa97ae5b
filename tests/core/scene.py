"""A made-up agent's recipe and its screens, for the rules' tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from fan.core.model import Line, Look, Pane, Report, Span, State
from fan.core.reading import Reading, read
from fan.core.recipe import Recipe, parse

RULE = "─" * 40
REST, WORKING, QUESTION = "? for help", "Busy (3s) esc to interrupt", "? which one do you want"
TRUST = ("Do you trust this folder?", "1. Yes", "2. No, exit")
PERMISSION = ("May I run it?", "1. Yes", "2. No")
LIMIT = ("Usage limit reached", "resets 14:30", "1. Wait")
PANE = Pane("%1", "s", "$1", "l", 1, "agent", "", False, None, False, (2, 0), True, (80, 24))

COMPOSER = {"prompt": "^>( |$)", "above": "^─{20,}$", "below": "^─{20,}$", "indent": "^  ", "cursor": True}
RULES: list[dict[str, Any]] = [
    {"state": "needs_input", "kind": "trust", "region": "dialog", "match": [r"Do you trust this folder\?"]},
    {"state": "needs_input", "kind": "permission", "region": "dialog", "match": [r"May I run it\?", r"1\. Yes"]},
    {"state": "needs_input", "kind": "question", "region": "footer", "match": [r"^\? which"]},
    {"state": "limited", "region": "dialog", "match": ["Usage limit reached"], "detail": r"resets (\S+)"},
    {"state": "working", "region": "footer", "match": ["esc to interrupt"]},
    {"state": "errored", "region": "above", "match": ["API Error[^>]*$"]},
    {"state": "rest", "region": "footer", "match": [r"^\? for help"], "unless": ["esc to interrupt"]},
]
TITLES: list[dict[str, Any]] = [
    {"state": "working", "region": "title", "match": [r"^\* "]},
    {"state": "rest", "region": "title", "match": ["^= "]},
]


def document(*, hooks: bool = False, titles: bool = False, **changes: Any) -> dict[str, Any]:
    """The recipe as a TOML document would give it; `changes` replace whole tables."""
    rules = [{"seen": "x", **rule} for rule in (*RULES, *(TITLES if titles else ()))]
    found: dict[str, Any] = {
        "schema": 1,
        "name": "agent",
        "title": "Agent",
        "recorded": ["1"],
        "program": {"commands": ["agent"]},
        "launch": {"command": ["agent"]},
        "screen": {"composer": COMPOSER, "rules": rules},
    }
    return found | ({"hooks": {"prompt": "prompt"}} if hooks else {}) | changes


def recipe(*, hooks: bool = False, titles: bool = False, **changes: Any) -> Recipe:
    """The parsed recipe."""
    return parse(document(hooks=hooks, titles=titles, **changes), where="agent.toml")


def box(draft: str = "", *, footer: str = REST, above: Sequence[str] = ()) -> list[str]:
    """A screen with a composer: prose, the box, the footer."""
    first, *more = draft.split("\n")
    return [*above, RULE, f"> {first}", *(f"  {line}" for line in more), RULE, footer]


def look(rows: Sequence[str], *, at: float = 100.0, cursor: int | None = None, **pane: Any) -> Look:
    """A look at `rows`; the cursor stands in the last line with a prompt sign, if there is one."""
    prompts = [number for number, row in enumerate(rows) if row.startswith(">")]
    row = cursor if cursor is not None else (prompts or [len(rows)])[-1]
    return Look(replace(PANE, cursor=(2, row), **pane), tuple(Line(row.rstrip(" ")) for row in rows), at)


def styled(text: str, *spans: tuple[int, int, str]) -> Line:
    """A line with styles."""
    return Line(text, tuple(Span(*span) for span in spans))


def report(state: State, kind: str = "", *, age: float = 1.0, at: float = 100.0) -> Report:
    """What the agent said `age` seconds before `at`."""
    return Report(1, "m", "l", state, kind, at - age, "")


def reading(
    rows: Sequence[str],
    told: Report | None = None,
    *,
    by: Recipe | None = None,
    launched_at: float | None = 0.0,
    **pane: Any,
) -> Reading:
    """What a screen means to an agent of the made-up recipe, launched a hundred seconds ago."""
    return read(by or recipe(hooks=told is not None), look(rows, **pane), told, launched_at)
