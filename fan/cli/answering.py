"""What every call does, whoever parses its words: open the world, answer, and say what went wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fan.cli.failing import guarded
from fan.cli.spoken import spoken
from fan.errors import DiskFailed
from fan.render import output

if TYPE_CHECKING:
    from fan.world.world import World


def called(verb: Callable[[], int], words: Sequence[str]) -> int:
    """Run what the command line `words` asks for; its exit code. Raises nothing but SystemExit."""
    output.prepare()
    code = guarded(verb, spoken(words))
    output.finish()
    return code


def world() -> World:
    """The world as this process finds it. Raises DiskFailed in a folder that is gone."""
    from fan.world.world import open_world

    try:
        here = Path.cwd()
    except OSError as error:
        raise DiskFailed(
            f"the current folder is not there any more: {error}", not_done="nothing was done", hint="cd"
        ) from error
    return open_world(os.environ, here)


def answer(value: object, text: Callable[[], str], *, as_json: bool, code: int = 0) -> int:
    """Print a verb's result, `value` for scripts or `text` for people; the exit code."""
    if as_json:
        from fan.render.values import as_json as written

        output.result(written(value))
    else:
        output.result(text())
    return code


def advise(hints: Iterable[str]) -> None:
    """Name the next commands, as this person would type them."""
    for hint in hints:
        output.aside(f"next: {said(hint)}")


def said(text: str) -> str:
    """`text` with the commands in it as this person would type them."""
    return spoken(sys.argv[1:]).said(text)
