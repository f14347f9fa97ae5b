"""`demo`: the main job with agents that need no account."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from fan.cli.common import Json, answer, verb, world
from fan.cli.spoken import spoken


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "demo", "fan demo")(demo)


def demo(
    clean: Annotated[bool, typer.Option("--clean", help="Take the demonstration away again.")] = False,
    as_json: Json = False,
) -> int:
    """Try fan in a scratch repository, no account needed."""
    from fan.render import progress
    from fan.render.rows import rows
    from fan.verbs import demo as verbs

    here = world()
    if clean:
        gone = verbs.clean(here)
        return answer(gone, lambda: f"removed {gone.folder} and {gone.members} members\n", as_json=as_json)
    with progress.shown() as listener:
        shown = verbs.demo(here, listener)
    here_and_there = spoken(sys.argv[1:]).from_anywhere()
    steps = "".join(f"  {here_and_there.said(line)}\n" for line in shown.next)
    table = rows(shown.started.members, here.clock.now())
    return answer(shown, lambda: f"{table}\nnext:\n{steps}", as_json=as_json, code=shown.exit_code)
