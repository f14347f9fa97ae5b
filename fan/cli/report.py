"""`report`, as help and documents show it; `fan.__main__` sends the real calls to `fan.cli.hot`."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli import hot
from fan.cli.common import verb


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "report", "fan report working")(report)


def report(
    state: Annotated[str, typer.Argument(metavar="STATE", help="rest, working, needs_input, ...")],
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="What needs_input waits for.")] = "",
) -> int:
    """Take an agent's own word for its state; for hooks."""
    hot.report([state, "--kind", kind] if kind else [state])
    return 0
