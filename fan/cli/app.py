"""The command line: every verb, and the one way in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.main import get_command

from fan import __version__
from fan.cli import config, demo, recipe, report, send, start, worktree
from fan.cli.failing import guarded
from fan.cli.routing import START, Verbs, routed
from fan.cli.spoken import PROGRAM, spoken
from fan.render import output

EVERYTHING = (start, worktree, send, recipe, config, demo, report)
NOUN_OF = {
    START: start,
    "send": send,
    "why": send,
    "recipe": recipe,
    "config": config,
    "doctor": config,
    "demo": demo,
}


def program(nouns: Sequence[ModuleType] = EVERYTHING) -> Any:
    """The program with the verbs of `nouns`."""
    app = typer.Typer(
        cls=Verbs,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(epilog="Example: fan 3 --agent demo 'Add a retry with backoff to the HTTP client.'")(_fan)
    for noun in nouns:
        noun.register(app)
    return get_command(app)


def run(words: Sequence[str]) -> int:
    """Run one command line; its exit code. Raises nothing but SystemExit, for shell completion."""
    output.prepare()
    code = guarded(lambda: _invoked(list(words)), spoken(words))
    output.finish()
    return code


def _invoked(words: list[str]) -> int:
    if f"_{PROGRAM.upper()}_COMPLETE" in os.environ:
        program().main(words, prog_name=PROGRAM)
    noun = NOUN_OF.get(routed(words)[0]) if words else None
    command = program([noun] if noun else EVERYTHING)  # building all takes as long as python itself
    with command.make_context(PROGRAM, words) as context:
        return command.invoke(context) or 0


def _version(wanted: bool) -> None:
    if wanted:
        output.result(f"fan {__version__}\n")
        raise typer.Exit


def _fan(
    shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Give one task to several coding agents at once, each in its own git worktree and tmux session."""
