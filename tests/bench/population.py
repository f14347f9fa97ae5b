"""Members as a `fan N` leaves them, made through the doors: worktree, session, record, prompt sent."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fan.core.model import Delivery, Group, Member, Phase, Status, Step, Typed
from fan.world.git import Repository
from fan.world.world import World, open_world
from tests.support.cli import Fan

HERE = Path(__file__).parent
PROGRAMS = {"idle": "idle.sh", "late": "late.py"}
GROUP = "gbench"


def know_agents(fan: Fan) -> None:
    """Put the recipes and programs of the benchmarks' agents where this `fan` finds them."""
    folder = fan.config / "recipes"
    shutil.copytree(HERE / "recipes", folder, dirs_exist_ok=True)
    fan.env["PATH"] = os.pathsep.join([str(HERE), str(Path(sys.executable).parent), fan.env["PATH"]])


def populate(fan: Fan, repo: Path, agents: Sequence[str], *, worktrees: bool = True) -> tuple[World, list[Member]]:
    """A member for each of `agents`, at rest, its prompt sent; without `worktrees` all stand in `repo`."""
    know_agents(fan)
    world = open_world(fan.env, repo)
    opened = world.git.repository(repo)
    members = _recorded(world, opened, agents)
    for one in members if worktrees else ():
        opened.create(one.path, one.branch, one.base_oid)
    with ThreadPoolExecutor(4) as pool:
        ready = list(pool.map(lambda one: _opened(world, one, one.path if worktrees else repo), members))
    return world, ready


def _recorded(world: World, repo: Repository, agents: Sequence[str]) -> list[Member]:
    now, oid = time.time(), repo.head().oid
    group = Group(GROUP, "fan/bench", repo.root, "main", oid, "Do it", now, os.getpid(), 0.0)
    members = [_member(world, n, agent, oid, now) for n, agent in enumerate(agents, 1)]
    sent = [
        Delivery(0, one.id, "Do it", now, status=Status.SENT, phase=Phase.DONE, typed=Typed.YES, done_at=now)
        for one in members
    ]
    world.store.add_group(group, members, sent)
    return members


def _member(world: World, n: int, agent: str, oid: str, now: float) -> Member:
    return Member(
        id=f"b{n:07d}",
        group=GROUP,
        n=n,
        branch=f"fan/bench-{n}",
        path=world.paths.worktrees / "bench" / f"bench-{n}",
        session=f"bench-{n}",
        agent=agent,
        variant="",
        base_oid=oid,
        step=Step.SESSION,
        launch=f"launch-{n}",
        launched_at=now - 60,
    )


def _opened(world: World, member: Member, cwd: Path) -> Member:
    names = ("PATH", "HOME", "LATE_DIR")
    env = {name: world.environ[name] for name in names if name in world.environ} | {"FAN_MEMBER": member.id}
    pane = world.tmux.open_session(
        member.session,
        cwd,
        [PROGRAMS[member.agent]],
        env,
        member=member.id,
        launch=member.launch,
        group=member.group,
    )
    return world.store.update_member(member.id, step=Step.READY, pane=pane.id, pid=pane.pid)
