"""`worktree new` and `worktree adopt`: members one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fan.cli.asking import agreed
from fan.cli.common import Env, Json, answer, verb, world
from fan.cli.complete import agents, groups
from fan.errors import NeedsApproval

if TYPE_CHECKING:
    from fan.verbs.joining import Joined
    from fan.verbs.new import NewRequest
    from fan.world.world import World

Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="A[:OPTION]", help="Start this agent in it.", autocompletion=agents),
]
Group = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help="Join this group.", autocompletion=groups)
]
Name = Annotated[str | None, typer.Option("--name", metavar="GROUP", help="Of the group that is made for it.")]
Base = Annotated[str | None, typer.Option("--base", metavar="REF", help="Instead of the group's, or HEAD.")]


def register(worktree: typer.Typer) -> None:
    """Put these verbs among those of `worktree`."""
    verb(worktree, "new", "fan worktree new fix-login --agent demo")(new)
    verb(worktree, "adopt", "fan worktree adopt ../api-fix-login --agent demo")(adopt)


def new(
    branch: Annotated[str, typer.Argument(metavar="BRANCH", help="A new one, or one that is checked out nowhere.")],
    agent: Agent = None,
    base: Base = None,
    group: Group = None,
    name: Name = None,
    env: Env = None,
    no_setup: Annotated[bool, typer.Option("--no-setup", help="Without the repository's setup.")] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="Its first prompt tells it how to report by mail; let it do so.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Make a worktree for a branch, with or without an agent; no prompt is sent."""
    from fan.verbs.approval import approve
    from fan.verbs.new import NewRequest

    request = NewRequest(branch, agent, base, group, name, tuple(env or ()), no_setup, brief)
    here = world()
    try:
        made = _made(here, request)
    except NeedsApproval as refusal:
        if as_json or not agreed(refusal):
            raise
        approve(here, refusal.fingerprint)
        made = _made(here, request)
    return _answer(here, made, as_json=as_json)


def adopt(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A worktree that was made by hand.")],
    agent: Agent = None,
    base: Base = None,
    group: Group = None,
    name: Name = None,
    env: Env = None,
    as_json: Json = False,
) -> int:
    """Make a hand-made worktree a member; its folder stays where it is."""
    from fan.render import progress
    from fan.verbs import adopt as verbs

    here = world()
    with progress.shown() as listener:
        joined = verbs.adopt(here, verbs.AdoptRequest(path, group, name, base, agent, tuple(env or ())), listener)
    return _answer(here, joined, as_json=as_json)


def _made(here: World, request: NewRequest) -> Joined:
    from fan.render import progress
    from fan.verbs.new import new as make

    with progress.shown() as listener:
        return make(here, request, listener)


def _answer(here: World, joined: Joined, *, as_json: bool) -> int:
    from fan.render.rows import rows

    return answer(joined, lambda: rows([joined.member], here.clock.now()), as_json=as_json, code=joined.exit_code)
