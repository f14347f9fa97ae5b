"""The command line: every verb, and the one way in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from fan import __version__
from fan.cli import (
    archive,
    ask,
    compare,
    config,
    demo,
    events,
    mail,
    mcp,
    recipe,
    report,
    resume,
    send,
    skill,
    start,
    stash,
    wait,
    worktree,
)
from fan.cli.answering import called
from fan.cli.routing import Verbs, routed
from fan.cli.spoken import PROGRAM
from fan.errors import Interrupted, UsageError
from fan.render import output

NOUNS = (
    start,
    worktree,
    archive,
    compare,
    send,
    ask,
    wait,
    mail,
    events,
    stash,
    mcp,
    skill,
    resume,
    recipe,
    config,
    demo,
    report,
)


def program(only: str = "") -> Any:
    """The program; with `only`, no more of it than that verb, if there is one of this name."""
    app = typer.Typer(
        cls=Verbs,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(epilog="Example: fan 3 --agent demo 'Add a retry with backoff to the HTTP client.'")(_fan)
    for noun in NOUNS:
        noun.register(app)
    _narrow(app, only)
    return get_command(app)


def run(words: Sequence[str]) -> int:
    """Run one command line; its exit code. Raises nothing but SystemExit, for shell completion."""
    return called(lambda: _invoked(list(words)), words)


def _invoked(words: list[str]) -> int:
    if f"_{PROGRAM.upper()}_COMPLETE" in os.environ:
        program().main(words, prog_name=PROGRAM)
    command = program(routed(words)[0] if words else "")
    try:
        with command.make_context(PROGRAM, words) as context:
            return command.invoke(context) or 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as error:
        raise _usage(error) from error
    except typer.Abort as error:
        raise Interrupted("interrupted") from error


def _narrow(app: typer.Typer, only: str) -> None:
    """Drop the other verbs: building them all takes as long as python itself."""
    commands = [one for one in app.registered_commands if one.name == only]
    groups = [one for one in app.registered_groups if one.name == only]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups


def _usage(error: typer.TyperException) -> UsageError:
    """The parser's complaint as one of ours; a bare `fan` gets the help as its answer."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROGRAM
    message = error.format_message()
    if context and message == context.get_help():
        return UsageError(f"a command is missing\n\n{message}")
    return UsageError(message.rstrip("."), not_done="nothing was done", hint=f"{command} --help")


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
