"""What a person says and presses so that each agent does the same thing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


def tool(name: str, **arguments: Any) -> str:
    """The directive that calls a tool."""
    return f"%tool={name} {json.dumps(arguments)}%"


CHOICES = [{"label": label, "description": f"it is {label}"} for label in ("Red", "Blue")]


@dataclass(frozen=True)
class Words:
    """Prompts that make an agent ask for permission to make the file `made.txt`, ask a question with options, and
    leave a shell of 8 s behind; the keys that allow it questions, and what a row says of the shell."""

    permission: str
    question: str
    background: str
    shell: str
    questions: tuple[str, ...] = ()


WORDS = {
    "claude": Words(
        permission="%bash=touch made.txt%",
        question=tool(
            "AskUserQuestion",
            questions=[{"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": CHOICES}],
        ),
        background=tool("Bash", command="sleep 15", description="wait", run_in_background=True),
        shell="1 shell",
    ),
    "codex": Words(
        permission=tool(
            "exec_command",
            cmd="touch made.txt",
            sandbox_permissions="require_escalated",
            justification="It must be made.",
        ),
        question=tool(
            "request_user_input",
            questions=[{"id": "colour", "header": "Colour", "question": "Which colour?", "options": CHOICES}],
        ),
        background=tool("exec_command", cmd="sleep 15", yield_time_ms=500),
        shell="1 background terminal running",
        questions=("BTab",),
    ),
}
