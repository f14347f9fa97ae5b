"""Final words, as the shipped recipes find them in lines like those that the agents write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fan.core.recipe_parts import Transcript
from fan.core.transcript import Final, final_words, marks
from fan.world.catalogue import Catalogue

Lines = list[dict[str, Any]]


def how(agent: str) -> Transcript:
    found = Catalogue(Path("/none")).recipe(agent).transcript
    assert found
    return found


def person(text: str) -> dict[str, Any]:
    """A typed prompt as Claude Code writes it."""
    return {"type": "user", "origin": {"kind": "human"}, "isSidechain": False, "message": {"content": text}}


def claude(
    message: str, *blocks: dict[str, Any], stop: str | None = "end_turn", side: bool = False
) -> dict[str, Any]:
    """A line of Claude Code's answer."""
    inner = {"id": message, "stop_reason": stop, "content": list(blocks)}
    return {"type": "assistant", "isSidechain": side, "message": inner}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


TOOL = {"type": "tool_use", "name": "Bash", "input": {"text": "no words"}}
RESULT = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "the user said so"}]}}
TASK = {"type": "user", "origin": {"kind": "task-notification"}, "message": {"content": "<task-notification>"}}
CLAUDE: list[tuple[str, Lines, Final | None]] = [
    ("whole", [claude("1", text("It is done."))], Final("It is done.", True)),
    ("two blocks", [claude("1", text("One.")), claude("1", text("Two."))], Final("One.\n\nTwo.", True)),
    (
        "after a tool",
        [
            claude("1", text("I look."), stop="tool_use"),
            claude("1", TOOL, stop="tool_use"),
            RESULT,
            claude("2", text("Yes.")),
        ],
        Final("Yes.", True),
    ),
    (
        "at a tool",
        [claude("1", text("I look."), stop="tool_use"), claude("1", TOOL, stop="tool_use")],
        Final("I look.", False),
    ),
    (
        "thought only",
        [claude("1", text("I look."), stop="tool_use"), claude("2", {"type": "thinking"})],
        Final("I look.", False),
    ),
    ("an error", [claude("1", text("API Error: 500"), stop="stop_sequence")], Final("API Error: 500", False)),
    ("a helper's words", [claude("1", text("Yes.")), claude("9", text("No."), side=True)], Final("Yes.", True)),
    (
        "after a task",
        [claude("1", text("I wait.")), TASK, claude("2", text("It passed."))],
        Final("It passed.", True),
    ),
    (
        "at a task's tool",
        [claude("1", text("I wait.")), TASK, claude("2", TOOL, stop="tool_use")],
        Final("I wait.", False),
    ),
    (
        "the next prompt",
        [claude("1", text("Yes.")), person("And then?"), claude("2", text("No."))],
        Final("Yes.", True),
    ),
    ("nothing said", [], None),
]


@pytest.mark.parametrize(("lines", "wanted"), [case[1:] for case in CLAUDE], ids=[case[0] for case in CLAUDE])
def test_claude(lines: Lines, wanted: Final | None) -> None:
    """The words after the last tool are the answer; it is whole only where the transcript says that the turn ended.

    Red when any text behind the prompt will do.
    """
    before = [person("Is it so?"), claude("0", text("An earlier answer."))]
    assert final_words([*before, person("Is it so?"), *lines], how("claude"), "Is it so?") == wanted


def test_codex() -> None:
    """What a person typed is told apart from what the agent was given besides."""

    def item(kind: str, words: str) -> dict[str, Any]:
        inner = {"type": kind, "content": [{"type": "Text", "text": words}]}
        return {"type": "event_msg", "payload": {"type": "item_completed", "item": inner}}

    given_too = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [text("<env>")]}}
    done = {"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "Yes."}}
    lines = [
        item("UserMessage", "Is it so?"),
        given_too,
        item("AgentMessage", "I look."),
        item("AgentMessage", "Yes."),
    ]
    assert final_words([given_too, *lines, done], how("codex"), "Is it so?") == Final("Yes.", True)
    assert final_words([given_too, *lines], how("codex"), "Is it so?") == Final("Yes.", False)


def test_a_prompt_that_is_not_there_has_no_answer() -> None:
    """Another prompt's words are never passed off as the answer."""
    assert final_words([person("Other"), claude("1", text("Yes."))], how("claude"), "Is it so?") is None


@pytest.mark.parametrize("agent", ["claude", "codex", "demo"])
def test_every_kind_of_line_can_be_found(agent: str) -> None:
    """There is a mark for each kind, by which its lines are picked out unparsed."""
    found = how(agent)
    assert len(marks([found.asked, found.said, found.ended])) == 3
