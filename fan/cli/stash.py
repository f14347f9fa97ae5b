"""`stash`: copies of files, kept for those who are to read them."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli.common import Json, answer, noun, said, verb, world
from fan.render import output

HELP = "Keep copies of files for others; nothing to do with git's stash."
Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, the first 4 characters and more, or its stored path.")]


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    stash = noun(app, "stash", HELP, "fan stash put build.log")
    verb(stash, "put", "fan stash put build.log")(put)
    verb(stash, "get", "fan stash get 3f786850e387 -o build.log")(get)
    verb(stash, "ls", "fan stash ls")(ls)
    verb(stash, "rm", "fan stash rm 3f786850e387")(rm)


def put(
    file: Annotated[str, typer.Argument(metavar="FILE", help="At most 16 MiB.")],
    as_json: Json = False,
) -> int:
    """Keep a copy of a file; prints where it lies."""
    from fan.verbs import stash as verbs

    kept = verbs.put(world(), file)
    return answer(kept, lambda: f"{kept.path}\n", as_json=as_json)


def get(
    wanted: Id,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="PATH", help="Into this new file; else they are printed.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Print the bytes of a kept file."""
    from fan.errors import UsageError
    from fan.verbs import stash as verbs

    if out is None:
        if as_json:
            raise UsageError("--json needs -o: a file is no JSON", hint=f"fan stash get {wanted} -o PATH --json")
        output.raw(verbs.get(world(), wanted))
        return 0
    written = verbs.save(world(), wanted, out)
    return answer({"written": str(written)}, lambda: f"{written}\n", as_json=as_json)


def ls(as_json: Json = False) -> int:
    """List what is kept, the oldest first: of all rooms for a person, of its own room for an agent."""
    from fan.render import stash as render
    from fan.verbs import stash as verbs

    here = world()
    found = verbs.ls(here)
    return answer(found, lambda: render.kept(found, here.clock.now()), as_json=as_json)


def rm(wanted: Id, as_json: Json = False) -> int:
    """Keep a file no more; refused while a message points to it."""
    from fan.verbs import stash as verbs

    gone = verbs.rm(world(), wanted)
    return answer(gone, lambda: said(f"{gone.id} is gone\n"), as_json=as_json)
