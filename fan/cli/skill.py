"""`skill`: pages for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli.common import Json, answer, verb


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "skill", "fan skill mail")(skill)


def skill(
    topic: Annotated[
        str, typer.Argument(metavar="[TOPIC]", help="Of mail, ask, wait, stash, files, human.")
    ] = "index",
    as_json: Json = False,
) -> int:
    """Print what an agent needs to know to use fan, in Markdown."""
    from fan.verbs import skill as verbs

    found = verbs.skill(topic)
    return answer(found, lambda: found.text, as_json=as_json)
