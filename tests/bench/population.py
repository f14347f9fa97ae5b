"""Members as a `fan N` leaves them, made through the doors: worktree, session, record, prompt sent."""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fan.core.model import Delivery, Group, Member, Status, Step, Typed
from fan.world.world import World, open_world
from tests.support.cli import Fan

HERE = Path(__file__).parent


def know_idle(fan: Fan) -> None:
    """Put the idle agent's recipe and program where this `fan` finds them."""
    folder = fan.config / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "recipes" / "idle.toml", folder)
    fan.env["PATH"] = os.pathsep.join([str(HERE), fan.env["PATH"]])


def world_of(fan: Fan, cwd: Path) -> World:
    """The doors as `fan` opens them in `cwd`."""
    return open_world(fan.env, cwd)


def populate(fan: Fan, repo: Path, count: int, *, worktrees: bool = True) -> list[Member]:
    """`count` members with the idle agent at rest, their prompts sent; without `worktrees` all stand in the repo."""
    know_idle(fan)
    world = world_of(fan, repo)
    opened = world.git.repository(repo)
    oid = opened.head().oid
    now = time.time()
    group = Group("gbench", "fan/bench", opened.root, "main", oid, "Do it", now, os.getpid(), 0.0)
    members = [_member(world, n, oid, now) for n in range(1, count + 1)]
    sent = [
        Delivery(0, one.id, "Do it", now, status=Status.SENT, phase="done", typed=Typed.YES, done_at=now)
        for one in members
    ]
    world.store.add_group(group, members, sent)
    if worktrees:
        for one in members:
            opened.create(one.path, one.branch, oid)
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda one: _opened(world, one, one.path if worktrees else repo), members))


def _member(world: World, n: int, oid: str, now: float) -> Member:
    branch = f"fan/bench-{n}"
    return Member(
        id=f"b{n:07d}",
        group="gbench",
        n=n,
        branch=branch,
        path=world.paths.worktrees / "bench" / f"bench-{n}",
        session=f"bench-{n}",
        agent="idle",
        variant="",
        base_oid=oid,
        step=Step.SESSION,
        launch=f"launch-{n}",
        launched_at=now - 60,
    )


def _opened(world: World, member: Member, cwd: Path) -> Member:
    pane = world.tmux.open_session(
        member.session,
        cwd,
        ["idle.sh"],
        {"PATH": world.environ["PATH"], "HOME": world.environ["HOME"]},
        member=member.id,
        launch=member.launch,
        group=member.group,
    )
    return world.store.update_member(member.id, step=Step.READY, pane=pane.id, pid=pane.pid)
