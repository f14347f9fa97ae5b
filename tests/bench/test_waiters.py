"""How soon a waiter wakes, and what waiters cost while nothing happens."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from fan.core.mail import HUMAN, Message
from fan.world import bells, processes
from fan.world.world import open_world
from tests.bench.measure import cpu_of, told_absolute
from tests.bench.population import populate
from tests.support.cli import Fan
from tests.support.wait import eventually

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]
WAITER = Path(__file__).parent / "waiter.py"
ROUNDS, IDLE, WATCHED_FOR = 30, 100, 10.0


@contextmanager
def _waiters(fan: Fan, where: Path, count: int, what: str) -> Iterator[subprocess.Popen[str]]:
    """So many waiting processes, once all of them wait."""
    command = [sys.executable, str(WAITER), str(count), what]
    with subprocess.Popen(command, cwd=where, env=fan.env, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        assert [started.stdout.readline().split()[0] for _ in range(count)] == ["ready"] * count
        waiters = fan.runtime / "waiters"
        eventually(lambda: waiters.is_dir() and len(os.listdir(waiters)) >= count, within=60)  # noqa: PTH208
        yield started
        for child in psutil.Process(started.pid).children():
            child.kill()


def test_from_the_ring_to_the_waiters_return(fan: Fan) -> None:
    """Half of the waiters for mail are back within 2 ms of the ring, with the message found."""
    repo = fan.repos.repo()
    world = open_world(fan.env, repo)
    taken = []
    for number in range(ROUNDS):
        with _waiters(fan, repo, 1, "mail") as started:
            assert started.stdout
            time.sleep(0.05)  # it sleeps by now
            world.store.post([_message(number)], charge=False)
            rung = time.monotonic()
            bells.ring(world.paths.runtime, [bells.of_inbox(HUMAN)])
            taken.append(float(started.stdout.readline().split()[2]) - rung)
        world.store.mark([one.id for one in world.store.unread(HUMAN)], "read", time.time())
    world.store.close()
    told_absolute("a waiter woken, p50", statistics.median(taken) * 1000, 2, "ms")
    print(f"  least {min(taken) * 1000:.2f}, most {max(taken) * 1000:.2f}")


@pytest.mark.parametrize("what", ["mail", "member"])
def test_a_hundred_idle_waiters(fan: Fan, what: str) -> None:
    """Together they take at most 20 ms of CPU a second, for mail as for a member's state."""
    repo = fan.repos.repo()
    if what == "member":
        world, (member,) = populate(fan, repo, ["idle"], worktrees=False)
        world.store.update_member(member.id, pid_started=processes.started(member.pid))
        what = member.id
    with _waiters(fan, repo, IDLE, what) as started:
        time.sleep(5)  # what each looks at once is not what waiting costs
        children = psutil.Process(started.pid).children()
        assert len(children) == IDLE
        before = sum(cpu_of(child.pid) for child in children)
        begun = time.monotonic()
        time.sleep(WATCHED_FOR)
        spent = (sum(cpu_of(child.pid) for child in children) - before) / (time.monotonic() - begun)
    told_absolute(f"{IDLE} idle waiters", spent * 1000, 20, "ms of CPU a second")


def _message(number: int) -> Message:
    return Message(0, f"m{number:07d}", HUMAN, HUMAN, HUMAN, "script", "script", "none", "", "Done", time.time())
