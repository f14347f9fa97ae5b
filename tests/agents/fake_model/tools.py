"""Calls of an agent's own tools, with the arguments that its own schema asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.agents.fake_model.request import Request

SHELL = (
    "Bash",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "run_shell_command",
    "execute_command",
    "run_commands",
    "terminal",
    "run_terminal_cmd",
    "Execute",
    "run_terminal_command",
    "launch-process",
)
WRITE = (
    "Write",
    "write_file",
    "Create",
    "create_file",
    "WriteFile",
    "write_to_file",
    "save-file",
    "StrReplaceFile",
    "editor",
)
COMMAND_KEYS = ("command", "cmd", "commands", "script", "input")
PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "filename")
CONTENT_KEYS = ("content", "contents", "file_text", "file_content", "text")
TEXT_KEYS = ("description", "explanation", "summary")

Call = tuple[str, dict[str, Any]]


def shell_call(request: Request, command: str) -> Call | None:
    """A call of the shell tool, None when the agent has none."""
    name = _pick(request, SHELL)
    if name is None:
        return None
    properties = request.tools[name].get("properties") or {}
    key = _first(COMMAND_KEYS, properties) or "command"
    is_list = properties.get(key, {}).get("type") == "array"
    words = ["bash", "-lc", command] if key == "command" else [command]
    return name, _complete(request, name, {key: words if is_list else command})


def write_call(request: Request, path: str) -> Call | None:
    """A call of the file-writing tool with one line of text; of the shell where there is none."""
    name = _pick(request, WRITE)
    if name is None:
        return shell_call(request, f"echo hello > {path}")
    properties = request.tools[name].get("properties") or {}
    is_relative = "path" in properties or "filename" in properties
    target = path if is_relative else str(Path(request.folder) / path)
    arguments = {
        _first(PATH_KEYS, properties): target,
        _first(CONTENT_KEYS, properties): "hello from the fake model\n",
    }
    return name, _complete(request, name, {key: value for key, value in arguments.items() if key})


def _pick(request: Request, names: Sequence[str]) -> str | None:
    """The first of `names` that the agent has, any case."""
    own = {name.lower(): name for name in request.tools}
    return next((own[name.lower()] for name in names if name.lower() in own), None)


def _first(keys: Sequence[str], properties: dict[str, Any]) -> str | None:
    return next((key for key in keys if key in properties), None)


def _complete(request: Request, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with something for each further one that the schema requires."""
    schema = request.tools[name]
    for key in schema.get("required") or []:
        if key not in arguments:
            arguments[key] = _filler(key, (schema.get("properties") or {}).get(key, {}))
    return arguments


def _filler(key: str, part: dict[str, Any]) -> Any:
    if part.get("enum"):
        return part["enum"][0]
    text = "Run the fake command" if key in TEXT_KEYS else "."
    return {"boolean": False, "number": 1, "integer": 1, "array": [], "object": {}}.get(part.get("type", ""), text)
