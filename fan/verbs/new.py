"""`fan worktree new`: one more member, without a prompt, and without an agent unless asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from fan.core import naming
from fan.core.brief import allowed
from fan.core.caller import Act
from fan.errors import AlreadyExists, Conflict, UsageError
from fan.verbs import joining, launch, setting_up
from fan.verbs.joining import NOTHING, Joined, Place, member_at
from fan.verbs.making import Making
from fan.verbs.plan import Part, Plan, check_disk
from fan.verbs.progress import Listener
from fan.verbs.target import known
from fan.world.files import must_see, private_folder, there
from fan.world.git import Repository
from fan.world.git.size import checkout_bytes
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A branch, new or not checked out anywhere. It joins `group`, else it makes one, called `name` or as itself.

    With `brief` its agent is launched with what its recipe allows, and the brief stands before the first prompt.
    """

    branch: str
    agent: str | None = None
    base: str | None = None
    group: str | None = None
    name: str | None = None
    env: tuple[str, ...] = ()
    no_setup: bool = False
    brief: bool = False


def new(world: World, request: NewRequest, listener: Listener) -> Joined:
    """Make the worktree, set it up, and start the agent if one is asked for. What cannot be is refused before."""
    world.allow(Act.FAN_OUT)
    where, plan = _planned(world, request)
    (part,) = plan.parts
    for note in plan.notes:
        listener.say(note)
    member = joining.recorded(world, where, part.member)
    try:
        Making(world, plan, listener).run()
    except KeyboardInterrupt:
        return joining.joined(world, where, member.id, interrupted=True)
    return joining.joined(world, where, member.id)


def _planned(world: World, request: NewRequest) -> tuple[Place, Plan]:
    """Everything resolved: agent, repository, branch, group, base, setup, disk, trust."""
    choice = world.catalogue.choose(request.agent) if request.agent else None
    if request.brief and choice is None:
        raise UsageError(
            "--brief is for an agent", not_done=NOTHING, hint=f"fan worktree new {request.branch} --agent A --brief"
        )
    argv = launch.command(world, choice, briefed=request.brief) if choice else ()
    env = launch.asked_environment(request.env, world.environ)
    world.tmux.version()
    private_folder(world.paths.runtime)
    world.git.version()
    repo = world.git.repository(world.cwd)
    tip = _branch(world, repo, request)
    where = joining.place(
        world, repo, request.branch, group=request.group, name=request.name, base=None if tip else request.base
    )
    begin = tip or where.base_oid
    where = replace(where, base_oid=(repo.fork_point(tip, where.base_oid) or tip) if tip else where.base_oid)
    setup = None if request.no_setup else setting_up.find(world, repo, begin)
    check_disk(world, repo, checkout_bytes(repo, begin), 1)
    path = _folder(world, repo, request.branch)
    member = structs.replace(
        joining.member_of(world, repo, where, request.branch, path, choice),
        adopted=tip is not None,
        briefed=request.brief,
    )
    asks: list[str] = []
    if choice:
        member, asks = joining.hold(world, where, member, choice)
    told = setting_up.notes(world, repo, setup) if setup else ()
    may = [allowed(choice.recipe.title, choice.recipe.allow)] if choice and request.brief else []
    notes = (f"{'checked out' if tip else 'base'}: {_begins(request, where, tip)} ({begin[:10]})", *told, *asks, *may)
    return where, Plan(repo, where.group, (Part(member, choice, argv),), env, notes, setup)


def _begins(request: NewRequest, where: Place, tip: str | None) -> str:
    return request.branch if tip else request.base or where.group.base


def _branch(world: World, repo: Repository, request: NewRequest) -> str | None:
    """Where an existing branch stands, None for one that can be made. Raises AlreadyExists, Conflict, UsageError."""
    name = request.branch
    repo.check_branch_name(name)
    existing = repo.branches()
    if name not in existing:
        if blocker := naming.blocking_branch(name, existing):
            raise Conflict(
                f"branch {name} cannot stand beside the branch {blocker}: git keeps both as paths; another name can",
                not_done=NOTHING,
            )
        return None
    if request.base is not None:
        raise UsageError(
            f"branch {name} is there already, and --base is for a new one",
            not_done=NOTHING,
            hint=f"fan worktree new {name}",
        )
    tree = next((one for one in repo.worktrees() if one.branch == name), None)
    if tree is not None:
        by_hand = not tree.main and member_at(world, tree.path) is None
        raise AlreadyExists(
            f"branch {name} is checked out at {tree.path}",
            not_done=NOTHING,
            hint=f"fan worktree adopt {shlex.quote(str(tree.path))}" if by_hand else "fan ls",
        )
    return existing[name]


def _folder(world: World, repo: Repository, branch: str) -> Path:
    """A free folder for it: two branches may have one slug."""
    taken = {one.member.path for one in known(world)}
    first = naming.worktree_folder(world.paths.worktrees, repo.name, repo.root, branch)
    (name,) = naming.branches(first.name, 1, lambda one: _is_taken(first.with_name(one), taken))
    return first.with_name(name)


def _is_taken(folder: Path, taken: set[Path]) -> bool:
    must_see(folder, NOTHING)
    return folder in taken or bool(there(folder))
