"""Processes that end while somebody waits."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time

import pytest

from fan.world import departures, processes
from fan.world.departures import Departures
from tests.support.wait import eventually

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def _known(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    return process.pid, processes.started(process.pid) or 0.0


def _both() -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    return subprocess.Popen(SLEEP), subprocess.Popen(SLEEP)


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system has no process descriptors")
def test_an_end_is_told_at_once() -> None:
    """Whoever waits on the descriptors wakes within a tenth of a second, and the end is told once.

    Red when processes are only asked now and then.
    """
    one, other = _both()
    with one, other, Departures({"one": _known(one), "other": _known(other)}) as watched:
        assert watched.patience == float("inf")
        one.kill()
        begun = time.monotonic()
        assert select.select(watched.files, [], [], 5)[0]
        assert time.monotonic() - begun < 0.1
        assert (watched.gone(), watched.gone()) == ({"one"}, set())
        other.kill()


def test_where_the_system_does_not_tell_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without process descriptors (macOS) the end is found by asking, every half second."""
    monkeypatch.setattr(departures, "_opened", lambda _pid: None)
    one, other = _both()
    with one, other, Departures({"one": _known(one), "other": _known(other)}) as watched:
        assert (watched.files, watched.patience) == ([], 0.5)
        assert watched.gone() == set()
        one.kill()
        one.wait()
        eventually(lambda: watched.gone() == {"one"})
        other.kill()


def test_a_number_that_was_given_to_another_is_not_waited_for() -> None:
    """The process of another start time is not the one that is meant: that one has ended.

    Red when the number alone counts.
    """
    one, other = _both()
    with one, other, Departures({"one": (one.pid, 5.0), "other": _known(other)}) as watched:
        assert watched.gone() == {"one"}
        one.kill()
        other.kill()
