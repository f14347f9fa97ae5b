"""`archive ls|show|rm`: what removed members have left."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli.common import Json, answer, noun, verb, world
from fan.cli.complete import archives
from fan.cli.numbers import days

HELP = "Look at what removed members have left, and drop it for good."


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    archive = noun(app, "archive", HELP, "fan archive show k7x2m9qa")
    verb(archive, "ls", "fan archive ls")(ls)
    verb(archive, "show", "fan archive show k7x2m9qa")(show)
    verb(archive, "rm", "fan archive rm --older-than 30")(rm)


def ls(as_json: Json = False) -> int:
    """List the archives of this repository, the newest first."""
    from fan.render import archives as render
    from fan.verbs import archive

    here = world()
    found = archive.ls(here)
    return answer(found, lambda: render.entries(found, here.clock.now()), as_json=as_json)


def show(
    archive: Annotated[
        str,
        typer.Argument(
            metavar="ARCHIVE", help="Its id, or the first 4 characters and more.", autocompletion=archives
        ),
    ],
    as_json: Json = False,
) -> int:
    """Show the commits and files of one archive, and the refs that hold them."""
    from fan.render import archives as render
    from fan.verbs import archive as verbs

    here = world()
    shown = verbs.show(here, archive)
    return answer(shown, lambda: render.shown(shown, here.clock.now()), as_json=as_json)


def rm(
    archive: Annotated[
        list[str] | None, typer.Argument(metavar="[ARCHIVE...]", help="As for show.", autocompletion=archives)
    ] = None,
    older_than: Annotated[
        float | None, typer.Option("--older-than", parser=days, metavar="DAYS", help="All that are older.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Drop archives for good; nothing brings them back."""
    from fan.render import archives as render
    from fan.verbs import archive as verbs

    dropped = verbs.rm(world(), verbs.DropRequest(tuple(archive or ()), older_than))
    return answer(dropped, lambda: render.dropped(dropped), as_json=as_json, code=dropped.exit_code)
