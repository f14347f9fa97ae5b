"""`fan worktree adopt`: a worktree that was made by hand becomes a member. Its folder stays where it is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from msgspec import structs

from fan.core.caller import Act
from fan.core.model import Member, Step
from fan.courier import start as courier
from fan.errors import AlreadyExists, FanError, NotAllowed, NotFound
from fan.verbs import joining, launch
from fan.verbs.joining import NOTHING, Joined, Place, member_at, same
from fan.verbs.launch import Launch
from fan.verbs.progress import Listener
from fan.verbs.target import Known
from fan.world.catalogue import Choice
from fan.world.git import Repository, Worktree
from fan.world.ids import new_launch
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class AdoptRequest:
    """A linked worktree, by any folder in it. With `agent` a session is opened there."""

    path: str
    group: str | None = None
    name: str | None = None
    base: str | None = None
    agent: str | None = None
    env: tuple[str, ...] = ()


def adopt(world: World, request: AdoptRequest, listener: Listener) -> Joined:
    """Put the worktree on record, and start the agent if one is asked for; nothing in it is touched.

    A member without an agent gets the one that is asked for. Raises NotAllowed for the main checkout, a detached
    one and anything that is no linked worktree.
    """
    world.allow(Act.FAN_OUT)
    choice = world.catalogue.choose(request.agent) if request.agent else None
    argv = launch.command(world, choice) if choice else ()
    env = launch.asked_environment(request.env, world.environ)
    repo = world.git.repository(world.cwd / request.path)
    tree, branch = _linked(repo)
    before = member_at(world, tree.path)
    where, member = _given(request, before, choice) if before else _joins(world, request, repo, tree, choice)
    if choice is None:
        joining.recorded(world, where, structs.replace(member, step=Step.READY, pid=0, pid_started=0.0))
        return joining.joined(world, where, member.id)
    member, asks = joining.hold(world, where, member, choice)
    for note in asks:
        listener.say(note)
    courier.ensure(world)
    numbered = world.store.relaunch(before.member, member) if before else joining.recorded(world, where, member)
    listener.phase(branch, "session")
    try:
        launch.opened(world, Launch(numbered, where.group, choice, argv, env))
    except FanError:
        world.store.update_member(member.id, **_as_before(before, world.clock.now()))
        raise
    return joining.joined(world, where, member.id)


def _linked(repo: Repository) -> tuple[Worktree, str]:
    """The linked worktree that we stand in, and its branch."""
    tree = next((one for one in repo.worktrees() if repo.top and same(one.path, repo.top)), None)
    if tree is None or tree.bare:
        raise NotFound("there is no linked worktree", not_done=NOTHING, hint="git worktree list")
    if tree.main:
        raise NotAllowed(
            f"{tree.path} is the main checkout, which is never a member",
            not_done=NOTHING,
            hint="fan worktree new BRANCH",
        )
    if tree.branch is None:
        raise NotAllowed(
            f"{tree.path} is on no branch, and a member has one",
            not_done=NOTHING,
            hint=f"git -C {shlex.quote(str(tree.path))} switch -c NAME",
        )
    return tree, tree.branch


def _joins(
    world: World, request: AdoptRequest, repo: Repository, tree: Worktree, choice: Choice | None
) -> tuple[Place, Member]:
    """Its base is where it has left that of its group: of the main checkout where the group is new."""
    branch = tree.branch or ""
    main = world.git.repository(repo.root)
    where = joining.place(world, main, branch, group=request.group, name=request.name, base=request.base)
    fork = main.fork_point(tree.oid, where.base_oid) or tree.oid
    member = joining.member_of(world, repo, where, branch, tree.path, choice)
    return where, structs.replace(member, adopted=True, base_oid=fork)


def _given(request: AdoptRequest, one: Known, choice: Choice | None) -> tuple[Place, Member]:
    """A member that is one already: it stays where it is, and may get an agent if it has none."""
    if one.member.agent or choice is None or request.group or request.name or one.member.step is not Step.READY:
        raise AlreadyExists(
            f"{one.member.path} is a member already: {one.name}", not_done=NOTHING, hint="fan worktree ls"
        )
    member = structs.replace(one.member, agent=choice.recipe.name, variant=choice.variant, launch=new_launch())
    return Place(one.group, is_new=False, base_oid=member.base_oid), member


def _as_before(before: Known | None, now: float) -> dict[str, object]:
    """What takes the record back."""
    return {"agent": "", "variant": ""} if before else {"removed_at": now, "step": Step.REMOVED}
