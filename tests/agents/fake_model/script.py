"""What the model does, as the directives in the person's words say.

| directive | the model |
|---|---|
| (none) | says one short sentence that ends in TURN-DONE |
| `%slow=6%` | streams words for 6 s |
| `%think=4%` | is silent for 4 s, then answers |
| `%say=TEXT%` | says exactly TEXT |
| `%bash=COMMAND%` | calls the agent's shell tool |
| `%write=PATH%` | calls the agent's file-writing tool with one line |
| `%tool=NAME {JSON}%` | calls any tool |
| `%after=2%` | streams for 2 s once the tool's result is there |
| `%status=500%` | answers with this HTTP status |
| `%drop=2%` | streams for 2 s, then cuts the connection |
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.agents.fake_model.request import Request
from tests.agents.fake_model.tools import shell_call, write_call

PROSE = (
    "I am looking at the files of this project one after the other and I will write down what I find in each of them "
    "before I change anything at all."
)
WORDS = PROSE.split()
TICK = 0.2


@dataclass(frozen=True)
class Say:
    """Words, and how many seconds pass after them."""

    text: str
    pause: float = 0.0


@dataclass(frozen=True)
class Call:
    """The call of a tool of the agent's."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Cut:
    """The connection breaks here."""


Act = Say | Call | Cut


@dataclass(frozen=True)
class Plan:
    """One answer: `delay` is how many seconds pass before its first byte."""

    acts: tuple[Act, ...]
    delay: float = 0.0


def plan(request: Request) -> Plan:
    """What to answer."""
    if request.is_side:
        return Plan((Say(_aside(request)),))
    script = request.directives
    if request.after_tool:
        closing = _prose(script["after"]) if "after" in script else (Say("The tool call is finished. ", 0.1), DONE)
        return Plan(tuple(closing))
    return Plan(tuple(_acts(request)), float(script.get("think", 0)))


DONE = Say("TURN-DONE", 0.1)


def _acts(request: Request) -> Iterator[Act]:
    script = request.directives
    called = _call(request)
    if "say" in script:
        yield Say(script["say"])
    if "slow" in script:
        yield from _prose(script["slow"])
    if "drop" in script:
        yield from _prose(script["drop"])
        yield Cut()
    if called:
        yield Say("I will use a tool now.", 0.1)
        yield called
    elif "slow" in script:
        yield Say("\nTURN-DONE", 0.1)
    elif not {"say", "drop"} & set(script):
        yield Say("Hello from the fake model. ", 0.1)
        yield DONE


def _call(request: Request) -> Call | None:
    script = request.directives
    if "bash" in script:
        return _named(shell_call(request, script["bash"]))
    if "write" in script:
        return _named(write_call(request, script["write"]))
    if "tool" in script:
        name, _, arguments = script["tool"].partition(" ")
        return Call(name, json.loads(arguments or "{}"))
    return None


def _named(call: tuple[str, dict[str, Any]] | None) -> Call | None:
    return Call(*call) if call else None


def _prose(seconds: str) -> Iterator[Say]:
    for number in range(max(1, int(float(seconds) / TICK))):
        yield Say(WORDS[number % len(WORDS)] + ("\n" if number % 12 == 11 else " "), TICK)


def _aside(request: Request) -> str:
    """Something that fits where the agent asks for itself."""
    if request.is_suggestion:
        return "run the tests"
    if request.schema is not None:
        return json.dumps(_sample(request.schema))
    return '{"title": "Fake title"}' if "json" in request.system.lower() else "Fake title"


def _sample(schema: dict[str, Any]) -> Any:
    """The simplest value that fits a JSON schema."""
    if schema.get("enum"):
        return "user" if "user" in schema["enum"] else schema["enum"][0]
    kind = str(schema.get("type", "object")).lower()
    if kind == "object":
        return {name: _sample(part) for name, part in (schema.get("properties") or {}).items()}
    return {"integer": 10, "number": 10, "boolean": False, "array": []}.get(kind, "Fake title")
