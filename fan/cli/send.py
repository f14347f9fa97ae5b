"""`send` words to a member, and `why` it is in its state."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli.common import Json, Target, answer, verb, world
from fan.cli.numbers import seconds
from fan.cli.text import worded
from fan.core.plain import visible
from fan.render import output


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    verb(app, "send", "fan send fan/add-retry-backoff-http 'Now write a test for it.'", with_text=True)(send)
    verb(app, "why", "fan why fan/add-retry-backoff-http")(why)


def send(
    member: Target,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT|-]", help="Typed behind what is pending; - reads it.")
    ] = None,
    command: Annotated[bool, typer.Option("--command", help="Send a slash command as it is.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="The last prompt, where that cannot double it.")] = False,
    again: Annotated[bool, typer.Option("--again", help="With --retry: even where it may have been taken.")] = False,
    patience: Annotated[
        float | None,
        typer.Option("--patience", parser=seconds, metavar="S", help="Seconds to wait for the agent to rest."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Queue a text for a member's agent."""
    from fan.render.rows import rows
    from fan.verbs import send as verbs

    here = world()
    queued = verbs.send(here, verbs.SendRequest(member, text and worded(text), command, retry, again, patience))
    if queued.note:
        output.aside(visible(queued.note))
    return answer(queued, lambda: rows([queued.row], here.clock.now()), as_json=as_json, code=queued.exit_code)


def why(
    member: Target,
    save: Annotated[bool, typer.Option("--save", help="Keep its screen as a recorded one.")] = False,
    as_json: Json = False,
) -> int:
    """Explain a member's state: screen, rules, evidence."""
    from fan.render.why import explained
    from fan.verbs import why as verbs

    found = verbs.why(world(), member, save=save)
    return answer(found, lambda: explained(found), as_json=as_json)
