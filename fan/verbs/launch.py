"""Opening a member's session: the command line, the environment and the hook files its agent gets."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fan.core.model import Group, Member, Pane, Step
from fan.core.recipe import Hooks
from fan.core.variables import OF_A_MEMBER, OF_A_PANE, PROGRAM, WHO
from fan.errors import UsageError
from fan.world import processes, trust
from fan.world.catalogue import Choice, program
from fan.world.files import private_folder, write_private, write_program
from fan.world.git.run import LOCATION_VARIABLES
from fan.world.tmux.launch import fits
from fan.world.world import World

DROPPED = frozenset({*LOCATION_VARIABLES, *OF_A_MEMBER, *OF_A_PANE, "OLDPWD"})
REFUSED_ENV = frozenset({*OF_A_PANE, "TMUX_TMPDIR", PROGRAM, *WHO})
# Run so, and not as a module, it is called by its own name, and so are the next commands that it prints.
ENTRY = "import sys; sys.argv[0] = 'fan'; from fan.__main__ import main; main()"


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of a member's agent. `argv` is the command line without what belongs to the member alone.

    `env` is what `--env` adds. A member without an agent has neither `choice` nor `argv`.
    """

    member: Member
    group: Group
    choice: Choice | None
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None


def command(world: World, choice: Choice, conversation: str = "", *, briefed: bool = False) -> tuple[str, ...]:
    """How the agent is started, with `conversation` how it goes on with that one. Raises ToolMissing.

    One that is `briefed` gets the options that let it run what its recipe allows.
    """
    launch = choice.recipe.launch
    words = launch.resume if conversation and launch.resume else launch.command
    filled = [word.replace("{python}", world.python[0]).replace("{session}", conversation) for word in words]
    first = program(filled[0], choice.recipe, world.environ)
    return (first, *filled[1:], *choice.option.arguments, *(choice.recipe.allow if briefed else ()))


def asked_environment(asked: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """What `--env NAME` (the caller's value) and `--env NAME=VALUE` add."""
    found = {}
    for text in asked:
        name, given, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in REFUSED_ENV:
            raise UsageError(f"--env cannot set `{name}`", not_done="nothing was made", hint="fan 1 --help")
        if not given and name not in environ:
            raise UsageError(
                f"--env {name}: it is not set here", not_done="nothing was made", hint=f"export {name}=VALUE"
            )
        found[name] = value if given else environ[name]
    return found


def held(
    world: World, root: Path, choices: Sequence[Choice], started: Iterable[Member] = ()
) -> tuple[list[bool], list[str]]:
    """Which of these starts are held, and a line for the person about each agent that may ask for trust.

    Of agents that ask once per repository and were not answered yet, only the first starts at once; none of
    those of which one is `started` already.
    """
    asked, holds, notes = {name for one in started for name in (one.agent, one.asked_for)}, [], []
    for choice in choices:
        scope, who = _scope(world, choice, root), choice.recipe.asker(choice.variant)
        if scope != "never" and who not in asked:
            asked.add(who)
            waits = "each one" if scope == "folder" else "the first one"
            title = choice.recipe.title
            notes.append(f"{title} may ask whether you trust this repository: {waits} waits for your answer")
            holds.append(False)
        else:
            holds.append(scope == "repository")
    return holds, notes


def _scope(world: World, choice: Choice, root: Path) -> str:
    """How often this agent asks if the repository is trusted; `never` where its own store tells that it is."""
    return "never" if trust.is_trusted(choice.trust, root, world.environ) else choice.trust.scope


def opened(world: World, launch: Launch) -> Member:
    """Start the agent in its worktree, held at its fifo where the member is; the member as it is then on record."""
    pane = open_session(world, launch)
    return world.store.update_member(
        launch.member.id,
        step=Step.READY,
        pane=pane.id,
        pid=pane.pid,
        pid_started=processes.started(pane.pid) or 0.0,
        launched_at=None if launch.member.hold else world.clock.now(),
    )


def open_session(world: World, launch: Launch) -> Pane:
    """The session, its hook files written before it."""
    member = launch.member
    hooks = launch.choice.recipe.hooks if launch.choice else None
    sandbox = launch.choice.recipe.sandbox if launch.choice else None
    requests = json.dumps(str(private_folder(world.paths.requests(member.id))), ensure_ascii=False)[1:-1]
    argv = [_fill(word, world, member) for word in launch.argv]
    argv += [word.replace("{requests}", requests) for word in (sandbox.arguments if sandbox else ())]
    if hooks:
        _write_hooks(world, member, hooks)
        argv += [_fill(word, world, member) for word in hooks.arguments]
    held = world.paths.hold(member.id) if member.hold else None
    return world.tmux.open_session(
        member.session,
        member.path,
        argv,
        environment(world, launch),
        member=member.id,
        launch=member.launch,
        group=launch.group.id,
        held=held,
    )


def environment(world: World, launch: Launch) -> dict[str, str]:
    """The caller's environment without what would lead the agent astray, and with who it is."""
    recipe = launch.choice.recipe if launch.choice else None
    dropped = [*DROPPED, *(recipe.launch.drop if recipe else ())]
    env = {
        name: value
        for name, value in world.environ.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in dropped) and fits(name, value)
    }
    if launch.choice and recipe:
        env |= recipe.launch.env | (recipe.hooks.env if recipe.hooks else {}) | launch.choice.option.env
    env |= launch.env or {}
    return env | _identity(world, launch) | {"PATH": _path(world, env.get("PATH", os.defpath))}


def _identity(world: World, launch: Launch) -> dict[str, str]:
    member = launch.member
    return {
        "PWD": str(member.path),
        "TMUX_TMPDIR": str(private_folder(world.paths.runtime / f"tmux-{member.id}")),
        "FAN_MEMBER": member.id,
        "FAN_GROUP": launch.group.stem,
        "FAN_LAUNCH": member.launch,
        "FAN_BIN": str(own_program(world)),
        "FAN_REQUESTS": str(world.paths.requests(member.id)),
        **world.paths.variables,
        **_ports(world, member),
    }


def _path(world: World, given: str) -> str:
    """Our own program before all others of its name; a login shell may undo that, and there is FAN_BIN then."""
    own = str(own_program(world).parent)
    return os.pathsep.join([own, *(part for part in given.split(os.pathsep) if part != own)])


def _ports(world: World, member: Member) -> dict[str, str]:
    leased = world.store.leased(member.id)
    return {} if leased is None else {"FAN_PORT": str(leased[0]), "FAN_PORT_COUNT": str(leased[1])}


def too_large(environ: Mapping[str, str]) -> list[str]:
    """Variables that tmux cannot carry; the agent goes without them."""
    return [name for name, value in environ.items() if not fits(name, value)]


def own_program(world: World) -> Path:
    """A file that runs this very `fan`, whatever PATH a login shell of the agent's sets."""
    file = world.paths.state / "bin" / "fan"
    write_program(file, f'#!/bin/sh\nexec {shlex.join([sys.executable, "-P", "-c", ENTRY])} "$@"\n')
    return file


def _write_hooks(world: World, member: Member, hooks: Hooks) -> None:
    report = f"{shlex.quote(str(own_program(world)))} report"
    inside_json = json.dumps(report)[1:-1]
    for file in hooks.files:
        write_private(world.paths.member(member.id) / file.name, file.content.replace("{report}", inside_json))


def _fill(word: str, world: World, member: Member) -> str:
    return word.replace("{member_dir}", str(world.paths.member(member.id)))
