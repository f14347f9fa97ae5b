"""`events`: what has happened, and what happens."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from fan.cli.common import Json, verb, world
from fan.cli.numbers import count, position
from fan.core.defaults import EVENTS_SHOWN
from fan.render import output

if TYPE_CHECKING:
    from fan.verbs.events import EventsRequest


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "events", "fan events --follow --json")(events)


def events(
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")] = False,
    after: Annotated[
        int | None,
        typer.Option("--after", parser=position, metavar="SEQ", help="Those behind this number; else the newest."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", parser=count, metavar="N", help="At most so many that are there.")
    ] = EVENTS_SHOWN,
    as_json: Json = False,
) -> int:
    """Show states, deliveries, messages (ids only), exits and sessions, numbered."""
    from fan.verbs.events import EventsRequest

    # Ctrl-C is how following is meant to end.
    with suppress(KeyboardInterrupt) if follow else nullcontext():
        _show(EventsRequest(after, limit, follow), as_json=as_json)
    return 0


def _show(request: EventsRequest, *, as_json: bool) -> None:
    from fan.render.events import line
    from fan.render.values import as_json as written
    from fan.verbs import events as verbs

    here = world()
    names = verbs.names(here)
    for one in verbs.events(here, request):
        if one.member and one.member not in names:
            names |= verbs.names(here)
        text = written(one) if as_json else line(one, names.get(one.member, ""), here.clock.local(one.at))
        if not output.result(text):
            break
