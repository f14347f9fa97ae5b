"""Opening a member's session: the environment and the hook files its agent gets."""

from __future__ import annotations

import fnmatch
import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from fan.core.model import Member, Pane
from fan.core.recipe import Hooks
from fan.verbs.plan import Part, Plan
from fan.world.files import private_folder, write_private, write_program
from fan.world.git.run import LOCATION_VARIABLES
from fan.world.world import World

DROPPED = frozenset(
    {*LOCATION_VARIABLES, "TMUX", "TMUX_PANE", "OLDPWD", "FAN_MEMBER", "FAN_GROUP", "FAN_PANE", "FAN_LAUNCH"}
)
LARGEST_VARIABLE = 15_000


def open_session(world: World, plan: Plan, part: Part) -> Pane:
    """Start the agent of `part` in its worktree; held at its fifo where the member is."""
    member, hooks = part.member, part.choice.recipe.hooks
    argv = [_fill(word, world, member) for word in part.argv]
    if hooks:
        _write_hooks(world, member, hooks)
        argv += [_fill(word, world, member) for word in hooks.arguments]
    held = world.paths.hold(member.id) if member.hold else None
    return world.tmux.open_session(
        member.session,
        member.path,
        argv,
        environment(world, plan, part),
        member=member.id,
        launch=member.launch,
        group=plan.group.id,
        held=held,
    )


def environment(world: World, plan: Plan, part: Part) -> dict[str, str]:
    """The caller's environment without what would lead the agent astray, and with who it is."""
    recipe, member = part.choice.recipe, part.member
    dropped = [*DROPPED, *recipe.launch.drop]
    env = {
        name: value
        for name, value in world.environ.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in dropped) and _fits(name, value)
    }
    env |= recipe.launch.env | (recipe.hooks.env if recipe.hooks else {}) | part.choice.option.env | dict(plan.env)
    return env | {
        "PWD": str(member.path),
        "TMUX_TMPDIR": str(private_folder(world.paths.runtime / f"tmux-{member.id}")),
        "FAN_MEMBER": member.id,
        "FAN_GROUP": plan.group.stem,
        "FAN_LAUNCH": member.launch,
        "FAN_BIN": str(own_program(world)),
        "FAN_STATE_DIR": str(world.paths.state),
        "FAN_RUNTIME_DIR": str(world.paths.runtime),
        "FAN_WORKTREE_DIR": str(world.paths.worktrees),
        "FAN_CONFIG_DIR": str(world.paths.config),
    }


def too_large(environ: Mapping[str, str]) -> list[str]:
    """Variables that tmux cannot carry; the agent goes without them."""
    return [name for name, value in environ.items() if not _fits(name, value)]


def own_program(world: World) -> Path:
    """A file that runs this very `fan`, whatever PATH a login shell of the agent's sets."""
    file = world.paths.state / "bin" / "fan"
    write_program(file, f'#!/bin/sh\nexec {shlex.join(world.python)} fan "$@"\n')
    return file


def _write_hooks(world: World, member: Member, hooks: Hooks) -> None:
    report = f"{shlex.quote(str(own_program(world)))} report"
    inside_json = json.dumps(report)[1:-1]
    for file in hooks.files:
        write_private(world.paths.member(member.id) / file.name, file.content.replace("{report}", inside_json))


def _fill(word: str, world: World, member: Member) -> str:
    return word.replace("{member_dir}", str(world.paths.member(member.id)))


def _fits(name: str, value: str) -> bool:
    return len(f"{name}={value}".encode("utf-8", "surrogateescape")) <= LARGEST_VARIABLE
