"""The courier killed at random moments, counted by the side that receives."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter

import pytest

from fan.core.model import Delivery, Status
from fan.core.standing import pending
from fan.courier import start as courier
from fan.verbs.target import known
from fan.world import processes
from fan.world.world import World, open_world
from tests.support.cli import Fan
from tests.support.puppets import Puppets
from tests.support.wait import eventually

MEMBERS = 5
EACH = 10
KILLS = 50
PHASES = ("waiting", "loaded", "pasting", "echo", "pressing", "proving")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(4))
def test_200_kills_over_200_deliveries_lose_and_double_nothing(fan: Fan, puppets: Puppets, seed: int) -> None:
    """Whenever the courier dies, each prompt reaches its agent exactly once and is recorded as sent.

    Each kill comes a random moment after some delivery has entered a randomly chosen phase. Goes red when the paste
    is recorded after it is made, when a crash in `pasting` types again without asking for the buffer, or when the
    submit key is repeated without our text in the composer.
    """
    repo = fan.repos.repo()
    words = ("--agent", "puppet", "--env", "PUPPET_ARGS=--busy 0.1", "--detach", "the first one")
    made = fan.run(str(MEMBERS), *words, cwd=repo)
    assert made.code == 0, made.err
    world = open_world(fan.env, repo)
    members = [one.member for one in known(world)]
    for number in range(EACH - 1):
        for member in members:
            _queue(world, member.id, f"prompt {number} for {member.id}")
    chance = random.Random(seed)
    kills = 0
    while kills < KILLS:
        courier.ensure(world)
        eventually(lambda: _runs(world), within=10)
        if len(pending(world.store.open_deliveries())) < MEMBERS:
            # The machine is quick: there must be something to interrupt up to the last kill.
            for member in members:
                _queue(world, member.id, f"prompt after {kills} kills for {member.id}")
        _reach(world, chance.choice(PHASES))
        world.clock.pause(chance.uniform(0.0, 0.02))
        kills += _kill(world)
    courier.ensure(world)
    eventually(lambda: not pending(world.store.open_deliveries()), within=120)
    sent = [one for member in members for one in world.store.deliveries(member.id)]
    assert Counter(one.status for one in sent) == {Status.SENT: len(sent)}
    received = Counter(text.decode() for member in members for text in puppets.submitted({"id": member.id}))
    assert received == Counter(one.text for one in sent)
    assert len(sent) >= MEMBERS * EACH


def _reach(world: World, phase: str) -> None:
    """Wait until some delivery is in this phase; short ones may be missed, then any moment will do."""
    until = world.clock.now() + 1.5
    while world.clock.now() < until:
        if any(one.phase == phase for one in world.store.open_deliveries()):
            return
        world.clock.pause(0.001)


def _queue(world: World, member: str, text: str) -> None:
    world.store.add_delivery(Delivery(0, member, text, world.clock.now()))


def _runs(world: World) -> bool:
    running = world.store.running()
    return running is not None and processes.alive(running.pid, running.started)


def _kill(world: World) -> int:
    running = world.store.running()
    if running is None or not processes.alive(running.pid, running.started):
        return 0
    os.kill(running.pid, signal.SIGKILL)
    eventually(lambda: not _runs(world))
    return 1
