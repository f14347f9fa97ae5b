"""Processes: who lives, who descends from an agent, who stands in a folder; and ending what we started."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

GONE = (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied)


@dataclass(frozen=True, slots=True)
class Process:
    """One process; the start time tells it from a later one of the same number."""

    pid: int
    started: float
    name: str = ""


def started(pid: int) -> float | None:
    """When `pid` was started, or None when there is no such process (tmux may leave a zombie for a while)."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except GONE:
        return None


def alive(pid: int, since: float) -> bool:
    """Whether the process that had `pid` at start time `since` still runs."""
    found = started(pid)
    return found is not None and abs(found - since) < 1.0


def descendants(pid: int) -> list[Process]:
    """All processes below `pid`, it first."""
    found = []
    with suppress(*GONE):
        top = psutil.Process(pid)
        for process in (top, *top.children(recursive=True)):
            with suppress(*GONE):
                found.append(Process(process.pid, process.create_time(), process.name()))
    return found


def inside(folder: Path) -> list[Process]:
    """Processes whose current folder is `folder` or lies in it."""
    found = []
    for process in psutil.process_iter():
        with suppress(*GONE):
            cwd = Path(process.cwd())
            if cwd == folder or folder in cwd.parents:
                found.append(Process(process.pid, process.create_time(), process.name()))
    return found


def end(wanted: Iterable[Process], *, patience: float = 2.0) -> list[Process]:
    """End exactly these processes, asking first (SIGTERM), then not (SIGKILL); those that are still there."""
    living = _living(wanted)
    for process in living:
        with suppress(*GONE):
            process.terminate()
    _, stubborn = psutil.wait_procs(living, timeout=patience)
    for process in stubborn:
        with suppress(*GONE):
            process.kill()
    _, left = psutil.wait_procs(stubborn, timeout=patience)
    return [Process(process.pid, 0.0) for process in left]


def _living(wanted: Iterable[Process]) -> list[psutil.Process]:
    living = []
    for one in wanted:
        with suppress(*GONE):
            process = psutil.Process(one.pid)
            if abs(process.create_time() - one.started) < 1.0:
                living.append(process)
    return living


def own() -> Process:
    """This process."""
    me = psutil.Process()
    return Process(me.pid, me.create_time(), me.name())
