"""What the members have made of it: `compare`, `diff`, `verify`, and `worktree diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from fan.cli.common import Json, Target, answer, verb, world
from fan.cli.complete import groups, members
from fan.cli.numbers import count, seconds
from fan.cli.routing import COMMAND, WithCommand

Stat = Annotated[bool, typer.Option("--stat", help="A line a file.")]
Targets = Annotated[
    list[str] | None,
    typer.Argument(metavar="[GROUP|MEMBER]...", help="None: the group we stand in.", autocompletion=members),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", parser=count, metavar="N", help="So many at a time; else one a processor.")
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", parser=seconds, metavar="S", help="End each after so many seconds.")
]


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    verb(app, "compare", "fan compare fan/add-retry-backoff-http")(compare)
    verb(app, "diff", "fan diff fan/add-retry-backoff-http:1 fan/add-retry-backoff-http:2")(diff)
    app.command("verify", cls=WithCommand, epilog="Example: fan verify -- pytest -q")(verify)


def compare(
    group: Annotated[
        str | None,
        typer.Argument(metavar="[GROUP]", help="None: the group we stand in.", autocompletion=groups),
    ] = None,
    as_json: Json = False,
) -> int:
    """Compare what the members of a group have made: files, lines, commits, checks, time, tokens."""
    from fan.render.compare import compared
    from fan.verbs import compare as verbs

    found = verbs.compare(world(), group)
    return answer(found, lambda: compared(found), as_json=as_json, code=found.exit_code)


def diff(a: Target, b: Target, stat: Stat = False, as_json: Json = False) -> int:
    """Show what leads from one member's files to another's, untracked ones included."""
    from fan.render.compare import show_diff
    from fan.verbs import diff as verbs

    found = verbs.diff(world(), a, b, stat=stat)
    return show_diff(found, as_json=as_json)


def worktree_diff(member: Target, stat: Stat = False, as_json: Json = False) -> int:
    """Show what a member has made since it left its base, untracked files included."""
    from fan.render.compare import show_diff
    from fan.verbs import diff as verbs

    found = verbs.from_base(world(), member, stat=stat)
    return show_diff(found, as_json=as_json)


def verify(
    targets: Targets = None,
    jobs: Jobs = None,
    timeout: Timeout = None,
    as_json: Json = False,
    command: Annotated[str | None, typer.Option(COMMAND, hidden=True)] = None,
) -> int:
    """Run a command in every member's worktree; without one, the check of fan.toml."""
    from fan.render import progress
    from fan.render.compare import verified
    from fan.verbs import verify as verbs

    request = verbs.VerifyRequest(tuple(targets or ()), command, jobs, timeout)
    with progress.shown() as listener:
        found = verbs.verify(world(), request, listener)
    return answer(found, lambda: verified(found), as_json=as_json, code=found.exit_code)
