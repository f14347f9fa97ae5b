"""`events`: what has happened, and what happens."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli.common import Json, verb, world
from fan.render import output


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "events", "fan events --follow --json")(events)


def events(
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")] = False,
    after: Annotated[
        int | None, typer.Option("--after", metavar="SEQ", min=0, help="Those behind this number; else the newest.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many that are there.")] = 100,
    as_json: Json = False,
) -> int:
    """Show states, deliveries, messages (ids only), exits and sessions, numbered."""
    from fan.render.events import line
    from fan.render.values import as_json as written
    from fan.verbs import events as verbs

    here = world()
    names = verbs.names(here)
    for one in verbs.events(here, verbs.EventsRequest(after, limit, follow)):
        if one.member and one.member not in names:
            names |= verbs.names(here)
        text = written(one) if as_json else line(one, names.get(one.member, ""), here.clock.local(one.at))
        if not output.result(text):
            break
    return 0
