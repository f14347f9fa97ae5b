"""What all commands share: the world, the answer, and options of one meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from fan.cli.answering import advise, answer, once_read, said, world
from fan.cli.complete import groups, members
from fan.cli.routing import Verb, WithText

__all__ = ["InGroup", "Json", "Target", "advise", "answer", "once_read", "said", "verb", "world"]

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
