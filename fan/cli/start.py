"""`fan N`: several agents on one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fan.cli.asking import agreed
from fan.cli.common import Env, Json, advise, answer, verb, world
from fan.cli.complete import agents
from fan.cli.numbers import seconds
from fan.cli.routing import COUNT, START
from fan.cli.text import read_text
from fan.errors import NeedsApproval, UsageError

if TYPE_CHECKING:
    from fan.verbs.plan import StartRequest
    from fan.verbs.start import Started
    from fan.world.world import World

Agents = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="A[:OPTION][,B...]", help="Dealt round the members.", autocompletion=agents),
]
Prompt = Annotated[str | None, typer.Argument(metavar="[PROMPT]", help="What all of them are to do.")]
Prompts = Annotated[
    list[str] | None, typer.Option("--prompt", metavar="P", help="One for each member; N may be left out.")
]
PromptFile = Annotated[
    str | None, typer.Option("--prompt-file", metavar="F", help="The prompt from a file; - reads standard input.")
]
Name = Annotated[str | None, typer.Option("--name", metavar="STEM", help="Of group and branches.")]
Base = Annotated[str | None, typer.Option("--base", metavar="REF", help="Start from here, not from HEAD.")]
Patience = Annotated[
    float | None,
    typer.Option("--patience", parser=seconds, metavar="S", help="Seconds a prompt waits for its agent to rest."),
]
Timeout = Annotated[float | None, typer.Option("--timeout", parser=seconds, metavar="S", help="Wait no longer.")]
Brief = Annotated[bool, typer.Option("--brief", help="Tell them how to report by mail, and let them do so.")]


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    example = "fan 3 --agent demo 'Add a retry with backoff to the HTTP client.'"
    verb(app, START, example, with_text=True)(start)


def start(
    agent: Agents = None,
    prompt: Prompt = None,
    prompts: Prompts = None,
    prompt_file: PromptFile = None,
    name: Name = None,
    base: Base = None,
    env: Env = None,
    patience: Patience = None,
    detach: Annotated[bool, typer.Option("--detach", help="Return once all is made.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Return once no prompt is pending.")] = False,
    timeout: Timeout = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and make nothing.")] = False,
    no_setup: Annotated[bool, typer.Option("--no-setup", help="Without the repository's setup.")] = False,
    brief: Brief = False,
    as_json: Json = False,
    count: Annotated[int | None, typer.Option(COUNT, hidden=True)] = None,
) -> int:
    """Start N agents, each in a worktree and session of its own."""
    from fan.render.rows import planned, rows
    from fan.verbs.plan import StartRequest

    request = StartRequest(
        agents=tuple(agent or ()),
        prompt=prompt if prompt_file is None else _from_file(prompt_file, prompt, prompts),
        prompts=tuple(prompts or ()),
        count=count,
        name=name,
        base=base,
        env=tuple(env or ()),
        patience=patience,
        detach=detach,
        wait=wait,
        timeout=timeout,
        dry_run=dry_run,
        no_setup=no_setup,
        brief=brief,
    )
    here = world()
    started = _started(here, request, may_ask=not as_json)
    advise(started.hints)

    def text() -> str:
        return planned(started) if started.dry_run else rows(started.members, here.clock.now())

    return answer(started, text, as_json=as_json, code=started.exit_code)


def _started(here: World, request: StartRequest, *, may_ask: bool) -> Started:
    """Once more when the repository's setup needs an approval and the person, who may be asked, gives it."""
    from fan.verbs.approval import approve

    try:
        return _shown(here, request)
    except NeedsApproval as refusal:
        if not may_ask or not agreed(refusal):
            raise
        approve(here, refusal.fingerprint)
        return _shown(here, request)


def _shown(here: World, request: StartRequest) -> Started:
    """With what happens meanwhile on the terminal."""
    from fan.render import progress
    from fan.verbs import start as verbs

    with progress.shown() as listener:
        return verbs.start(here, request, listener)


def _from_file(file: str, prompt: str | None, prompts: list[str] | None) -> str:
    if prompt is not None or prompts:
        raise UsageError("--prompt-file excludes any other prompt", not_done="nothing was made", hint="fan 1 --help")
    return read_text(file)
