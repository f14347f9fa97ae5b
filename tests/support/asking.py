"""Questions that are in flight while a test looks on."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from fan import __version__
from fan.core.model import Delivery, Purpose
from fan.courier import start as courier
from fan.world import processes
from fan.world.store.records import Running
from fan.world.world import World, open_world
from tests.support.cli import PROGRAM, Fan
from tests.support.members import stop_courier
from tests.support.puppets import Row
from tests.support.wait import eventually


class Asking:
    """One running `fan` that waits for something."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def ends(self, *, within: float = 30.0) -> tuple[int, Any]:
        """Its exit code and what it answered, as JSON."""
        out, err = self.process.communicate(timeout=within)
        assert out, err.decode()
        return self.process.returncode, json.loads(out)

    def refused(self, *, within: float = 30.0) -> tuple[int, dict[str, str], float]:
        """Its exit code, the error it told, and how many seconds that took from now."""
        begun = time.monotonic()
        code, told = self.ends(within=within)
        return code, told["error"], time.monotonic() - begun


@contextmanager
def running(fan: Fan, where: Path, *words: str, env: Mapping[str, str] | None = None) -> Iterator[Asking]:
    """`fan WORDS --json` beside the test; ended with it."""
    pipe = subprocess.PIPE
    command = [*PROGRAM, *words, "--json"]
    process = subprocess.Popen(command, cwd=where, env=fan.env | dict(env or {}), stdout=pipe, stderr=pipe)
    try:
        yield Asking(process)
    finally:
        process.kill()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        process.wait()


@contextmanager
def world_of(fan: Fan, where: Path) -> Iterator[World]:
    """The doors of this `fan`, in the test's own process."""
    world = open_world(fan.env, where)
    try:
        yield world
    finally:
        world.store.close()


@contextmanager
def without_courier(fan: Fan, world: World) -> Iterator[None]:
    """Nothing is looked at or typed as long as it lasts: we pass for the courier."""
    stop_courier(fan)
    with FileLock(world.paths.courier_lock, timeout=10):
        own = processes.own()
        world.store.set_running(Running(own.pid, own.started, __version__))
        yield
    courier.ensure(world)


def questions(world: World, row: Row) -> list[Delivery]:
    """The questions that were queued for a member."""
    return [one for one in world.store.deliveries(row["id"]) if one.purpose == Purpose.ASK]


def is_asked(world: World, row: Row, *, within: float = 20.0) -> None:
    """Waits until a question has been sent to a member."""
    eventually(lambda: [one for one in questions(world, row) if one.status == "sent"], within=within)
