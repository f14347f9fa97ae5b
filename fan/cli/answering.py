"""What every call does, whoever parses its words: open the world, answer, and say what went wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from fan.cli.failing import guarded
from fan.cli.spoken import spoken
from fan.errors import DiskFailed
from fan.render import output
from fan.world.files import is_writable_file

if TYPE_CHECKING:
    from fan.core.caller import Caller
    from fan.world.world import World


ACTING: ContextVar[Caller | None] = ContextVar("acting", default=None)
"""For whom this process acts, where that is not whoever started it."""
LATER: list[Callable[[], None]] = []
"""What such a process does once its output was fetched."""


def called(verb: Callable[[], int], words: Sequence[str]) -> int:
    """Run what the command line `words` asks for; its exit code. Raises nothing but SystemExit."""
    output.prepare()
    return guarded(_by_courier(words) or verb, spoken(words))


def world() -> World:
    """The world as this process finds it. Raises DiskFailed in a folder that is gone."""
    from fan.world.world import open_world

    acting = ACTING.get()
    if acting and acting.member:
        return open_world(os.environ, acting.member.path, acting)
    return open_world(os.environ, current_folder())


def current_folder() -> Path:
    """Where this process stands. Raises DiskFailed in a folder that is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        raise DiskFailed(
            f"the current folder is not there any more: {error}", not_done="nothing was done", hint="cd"
        ) from error


def answer(value: object, text: Callable[[], str], *, as_json: bool, code: int = 0) -> int:
    """Print a verb's result, `value` for scripts or `text` for people; the exit code."""
    if as_json:
        from fan.render.values import as_json as written

        output.result(written(value))
    else:
        output.result(text())
    return code


def once_read(act: Callable[[], None]) -> None:
    """Do `act` when the output has reached its reader: at once, or after it was fetched from who acts for another."""
    if ACTING.get() is None:
        act()
    else:
        LATER.append(act)


def advise(hints: Iterable[str]) -> None:
    """Name the next commands, as this person would type them."""
    for hint in hints:
        output.aside(f"next: {said(hint)}")


def said(text: str) -> str:
    """`text` with the commands in it as this person would type them."""
    return spoken(sys.argv[1:]).said(text)


def _by_courier(words: Sequence[str]) -> Callable[[], int] | None:
    """In a sandbox that keeps us from the store, what is done in the place of a command line that needs it."""
    if not os.environ.get("FAN_REQUESTS"):
        return None
    from fan.world.store.connection import NAME

    if is_writable_file(Path(os.environ.get("FAN_STATE_DIR", ""), NAME)):
        return None
    from fan.cli import requests

    return requests.instead(words)
