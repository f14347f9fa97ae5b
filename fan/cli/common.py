"""What all commands share: the world, the answer, and options of one meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from fan.cli.answering import advise, answer, once_read, said, world
from fan.cli.complete import groups, members
from fan.cli.routing import Verb, WithText

__all__ = ["Env", "InGroup", "Json", "Target", "advise", "answer", "noun", "once_read", "said", "verb", "world"]

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
Env = Annotated[
    list[str] | None, typer.Option("--env", metavar="NAME[=VALUE]", help="Set for the agents; repeatable.")
]
InGroup = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help="Of this group.", autocompletion=groups)
]


def verb(app: typer.Typer, name: str, example: str, *, with_text: bool = False) -> Callable[[Command], Command]:
    """Register a function as the verb `name`; its docstring and the example are the help."""
    return app.command(name, cls=WithText if with_text else Verb, epilog=f"Example: {example}")


def noun(app: typer.Typer, name: str, about: str, example: str, **how: Any) -> typer.Typer:
    """Register the group of verbs `name`; what it is about and the example are its help."""
    made = typer.Typer(help=about, epilog=f"Example: {example}", **({"no_args_is_help": True} | how))
    app.add_typer(made, name=name)
    return made
