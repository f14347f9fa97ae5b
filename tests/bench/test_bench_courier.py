"""What the courier costs while nothing happens, and how soon it types."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import pytest

from fan.core.model import Delivery
from fan.core.stillness import STILL
from fan.courier import start as courier
from fan.world.world import World
from tests.bench.measure import cpu_of, told_absolute
from tests.bench.population import populate
from tests.support.cli import Fan
from tests.support.members import tmux
from tests.support.wait import eventually

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]
AT_REST, WATCHED_FOR = 100, 10.0
MEMBERS, LATE, PROMPTS = 50, 10, 5


def test_watching_100_agents_at_rest(fan: Fan) -> None:
    """The courier and the tmux server together take at most 20 ms of CPU a second."""
    repo = fan.repos.repo()
    world, members = populate(fan, repo, ["idle"] * AT_REST, worktrees=False)
    pids = [_courier(world), int(tmux(fan, "display-message", "-p", "#{pid}"))]
    eventually(lambda: list(world.store.last_changes()) and _all_rest(world, len(members)), within=60)
    time.sleep(5)  # what it learns of new members once is not what watching them costs
    before = [cpu_of(pid) for pid in pids]
    begun = time.monotonic()
    time.sleep(WATCHED_FOR)
    took = time.monotonic() - begun
    own, server = [(cpu_of(pid) - was) / took * 1000 for pid, was in zip(pids, before, strict=True)]
    told_absolute(f"watching {AT_REST} at rest", own + server, 20, "ms of CPU a second")
    print(f"  courier {own:.1f}, tmux server {server:.1f}")


def test_time_from_settled_to_the_first_key(fan: Fan) -> None:
    """With 50 members, the first key comes within 150 ms of the end of the settle time in nine of ten cases."""
    folder = fan.folder / "late"
    folder.mkdir()
    fan.env["LATE_DIR"] = str(folder)
    agents = ["late"] * LATE + ["idle"] * (MEMBERS - LATE)
    world, members = populate(fan, fan.repos.repo(), agents, worktrees=False)
    _courier(world)
    eventually(lambda: _all_rest(world, MEMBERS), within=60)
    for one in members[:LATE]:
        for number in range(PROMPTS):
            world.store.add_delivery(Delivery(0, one.id, f"prompt {number}", time.time()))
    courier.wake(world)
    eventually(lambda: not world.store.open_deliveries(), within=120, every=0.2)
    waits = sorted(key - rest - STILL for one in members[:LATE] for rest, key in _noted(folder / one.id)[1:])
    assert len(waits) == LATE * (PROMPTS - 1)
    told_absolute("settled to first key, p90", statistics.quantiles(waits, n=10)[-1] * 1000, 150, "ms")
    print(f"  median {statistics.median(waits) * 1000:.0f}, least {waits[0] * 1000:.0f}, most {waits[-1] * 1000:.0f}")


def _courier(world: World) -> int:
    """A running courier's process."""
    courier.ensure(world)
    eventually(lambda: world.store.running() is not None, within=20)
    running = world.store.running()
    assert running
    return running.pid


def _all_rest(world: World, count: int) -> bool:
    return [one.state for one in world.store.last_changes().values()] == ["rest"] * count


def _noted(file: Path) -> list[tuple[float, float]]:
    """When it rested and when its first key came, for each prompt."""
    pairs = (line.split() for line in file.read_text().splitlines())
    return [(float(rest), float(key)) for rest, key in pairs]
