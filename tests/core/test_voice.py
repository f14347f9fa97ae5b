"""All errors speak in one voice, wherever they are raised."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fan
from fan import errors

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
