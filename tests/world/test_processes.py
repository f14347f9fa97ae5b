"""Ending processes, and what is said of those that stay."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fan.world.processes import Process, alive, descendants, end, unended
from tests.support.wait import eventually

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(99)"


@contextmanager
def running(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program beside the test; ended with it."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_one_that_does_not_listen_is_ended_all_the_same() -> None:
    """SIGTERM first, then SIGKILL; what is gone is not among those that stay."""
    with running(sys.executable, "-c", DEAF) as deaf:
        assert deaf.stdout is not None
        assert deaf.stdout.readline() == b"deaf\n"
        (process,) = descendants(deaf.pid)
        assert end([process], patience=0.2) == []
        assert not alive(process.pid, process.started)


def test_one_that_nobody_has_reaped_is_not_said_to_stay() -> None:
    """A zombie works no more; red when its number alone counts."""
    with running("/bin/sh", "-c", "sleep 600 & exec sleep 601") as parent:
        eventually(lambda: len(descendants(parent.pid)) == 2)
        child = descendants(parent.pid)[1]
        assert end([child], patience=0.2) == []
        assert alive(parent.pid, descendants(parent.pid)[0].started)


def test_a_number_that_was_given_away_again_is_not_ended() -> None:
    """The start time tells a later process of the same number from the one that is meant."""
    with running("sleep", "600") as other:
        assert end([Process(other.pid, 1.0)], patience=0.2) == []
        assert other.poll() is None


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, []),
        (1, ["could not be ended and may still run there: tool (1)"]),
        (6, ["could not be ended and may still run there: tool (1), tool (2), tool (3), tool (4), tool (5), ..."]),
    ],
)
def test_those_that_stay_are_named(count: int, said: list[str]) -> None:
    """By name and number, at most five."""
    assert unended([Process(number + 1, 0.0, "tool") for number in range(count)]) == said
