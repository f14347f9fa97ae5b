"""What all commands share: the world, the answer, and options of one meaning."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from fan.cli.complete import groups, members
from fan.cli.routing import Verb, WithText
from fan.cli.spoken import spoken
from fan.errors import DiskFailed
from fan.render import output

if TYPE_CHECKING:
    from fan.world.world import World

Command = TypeVar("Command", bound=Callable[..., int])

Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON value.")]
Target = Annotated[
    str,
    typer.Argument(
        metavar="MEMBER",
        help="Id or its first 4 characters, session, branch, GROUP:N or pane.",
        autocompletion=members,
    ),
]
InGroup = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help="Of this group.", autocompletion=groups)
]


def verb(app: typer.Typer, name: str, example: str, *, with_text: bool = False) -> Callable[[Command], Command]:
    """Register a function as the verb `name`; its docstring and the example are the help."""
    return app.command(name, cls=WithText if with_text else Verb, epilog=f"Example: {example}")


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
