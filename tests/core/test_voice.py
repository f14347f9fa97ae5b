"""All errors speak in one voice, wherever they are raised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import fan
from fan import errors

PROGRAMS = {
    *("apt", "cat", "cd", "chmod", "cp", "df", "export", "fan", "fg"),
    *("git", "kill", "ls", "mv", "pip", "rm", "tar", "unset"),
}
ADVICE = re.compile(r" (or|then|else|first|there|it|again)\b(?=[^']*$)|[,;:] |\.md\b| \.\.\.")
"""Signs that a hint is no command, or more than one."""
KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.FanError)}


def _sentences() -> Iterator[tuple[str, str]]:
    """Where it stands, and each message, `not_done` and `hint` that is written out at an error."""
    for file in sorted(Path(fan.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in KINDS):
                continue
            spoken = [*call.args[:1], *(one.value for one in call.keywords if one.arg in ("not_done", "hint"))]
            for part in spoken:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield f"{file.name}:{part.lineno}", part.value
                elif isinstance(part, ast.JoinedStr):
                    yield f"{file.name}:{part.lineno}", "".join(_text(one) for one in part.values)


def _hints() -> Iterator[tuple[str, str]]:
    """Each `hint` that is written out, or put together from what is written out, where an error is made."""
    for file in sorted(Path(fan.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            for word in call.keywords if isinstance(call, ast.Call) else ():
                if word.arg == "hint":
                    yield from ((f"{file.name}:{word.value.lineno}", text) for text in _written(word.value))


def _written(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.IfExp):
        yield from (*_written(value.body), *_written(value.orelse))
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield "".join(_text(one) for one in value.values)


def _text(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "{}"


def test_errors_speak_in_one_voice() -> None:
    """What was refused, what was not done and the next command: no capital at the start, no full stop at the end.

    Red when one of them is written as a sentence of its own.
    """
    found = list(_sentences())
    assert len(found) > 300
    loud = [(where, text) for where, text in found if text[:1].isupper() and text[1:2].islower()]
    stopped = [(where, text) for where, text in found if text.endswith(".") and not text.endswith("..")]
    assert (loud, stopped) == ([], [])


def test_every_hint_is_a_command() -> None:
    """It begins with a program and holds no advice, so that it works when copied; what else there is to say stands in
    the message. Red when a hint is a sentence, names two commands, or a page that an installed `fan` does not have.
    """
    found = list(_hints())
    assert len(found) > 150
    wrong = [(where, hint) for where, hint in found if hint and not _is_command(hint)]
    assert wrong == []


def _is_command(hint: str) -> bool:
    program = hint.split(maxsplit=1)[0]
    return (program in PROGRAMS or program == "{}") and not ADVICE.search(hint.split(" -m '", maxsplit=1)[0])
