"""What `FAN_DEMO` may say: a comma list of these words, some with a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALWAYS = 1_000_000
_DEFAULTS: dict[str, Any] = {
    "trust": "repository",
    "slow": 4.0,
    "login": True,
    "limit": 1,
    "permission": True,
    "die": 3,
    "question": True,
    "error": ALWAYS,
}


@dataclass(frozen=True, slots=True)
class Behaviours:
    """How this run differs from the plain agent.

    `trust` asks first: per `repository` (remembered for all its worktrees), per `path`, or `always`.
    `slow` looks ready but drops keys for so many seconds. `login` wants a word first. `limit` and
    `error` make the first so many prompts fail. `permission` asks before it edits. `die` exits with
    this code a second after the start. `question` ends every other turn with a question.
    """

    trust: str = ""
    slow: float = 0.0
    login: bool = False
    limit: int = 0
    permission: bool = False
    die: int | None = None
    question: bool = False
    error: int = 0
    speed: float = 1.0


def read(environ: Mapping[str, str]) -> Behaviours:
    """Reads `FAN_DEMO` and `FAN_DEMO_SPEED` (a turn's 1.5 s are divided by it); raises ValueError."""
    given: dict[str, Any] = {}
    for word in filter(None, (part.strip() for part in environ.get("FAN_DEMO", "").split(","))):
        name, _, value = word.partition("=")
        if name not in _DEFAULTS:
            raise ValueError(f"FAN_DEMO knows no {name!r}: it takes {', '.join(_DEFAULTS)}")
        if name == "trust" and value not in ("", "repository", "path", "always"):
            raise ValueError(f"trust is per repository, path or always, not {value!r}")
        default = _DEFAULTS[name]
        given[name] = type(default)(value) if value else default
    speed = float(environ.get("FAN_DEMO_SPEED") or 1)
    return dataclasses.replace(Behaviours(speed=max(speed, 0.001)), **given)
