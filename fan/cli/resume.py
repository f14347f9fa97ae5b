"""`fan resume`: sessions again, after a reboot or a killed tmux server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fan.cli.common import Env, Json, answer, verb, world
from fan.cli.complete import groups
from fan.render import output

if TYPE_CHECKING:
    from fan.verbs.resume import Resumed
    from fan.world.world import World

Targets = Annotated[
    list[str] | None,
    typer.Argument(metavar="[GROUP|MEMBER]...", help="By default all of this repository.", autocompletion=groups),
]


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "resume", "fan resume fan/add-retry-backoff-http")(resume)


def resume(
    targets: Targets = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Of every repository.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Not with their last conversations.")] = False,
    env: Env = None,
    as_json: Json = False,
) -> int:
    """Open sessions that are gone again; what is pending is still sent."""
    from fan.render import progress
    from fan.verbs import resume as verbs

    here = world()
    request = verbs.ResumeRequest(tuple(targets or ()), everywhere, fresh, tuple(env or ()))
    with progress.shown() as listener:
        resumed = verbs.resume(here, request, listener)
    return answer(resumed, lambda: _text(here, resumed), as_json=as_json, code=resumed.exit_code)


def _text(here: World, resumed: Resumed) -> str:
    from fan.core.plain import one_line, visible
    from fan.render.rows import rows

    for note in resumed.notes:
        output.aside(visible(note))
    for one in resumed.left:
        output.aside(f"warning: {one_line(one.session)} was not resumed: {visible(one.reason)}")
    return rows(resumed.members, here.clock.now())
