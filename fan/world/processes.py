"""Processes: who lives, who descends from an agent, who stands in a folder; and ending what we started."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from fan.errors import ToolMissing

GONE = (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied)


@dataclass(frozen=True, slots=True)
class Process:
    """One process; the start time tells it from a later one of the same number."""

    pid: int
    started: float
    name: str = ""


class Child:
    """A process of our own that runs beside us, without input and in no folder of ours.

    Raises ToolMissing when it cannot be started.
    """

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        try:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, cwd="/", env=dict(environ))
        except OSError as error:
            raise ToolMissing(f"{argv[0]} cannot be run: {error.strerror}", not_done="it was not run") from error

    def has_ended(self) -> bool:
        """Whether it is there no more."""
        return self._process.poll() is not None

    def end(self) -> None:
        """Ask it to end."""
        self._process.terminate()


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


def end(wanted: Sequence[Process], *, patience: float = 2.0) -> list[Process]:
    """End exactly these processes, asking first (SIGTERM), then not (SIGKILL); those that are still there."""
    living = _living(wanted)
    for process in living:
        with suppress(*GONE):
            process.terminate()
    _, stubborn = psutil.wait_procs(living, timeout=patience)
    for process in stubborn:
        with suppress(*GONE):
            process.kill()
    psutil.wait_procs(stubborn, timeout=patience)
    return [one for one in wanted if alive(one.pid, one.started)]


def named(found: Sequence[Process]) -> str:
    """At most five of them, as a person finds them again."""
    return ", ".join(f"{one.name} ({one.pid})" for one in found[:5]) + (", ..." if len(found) > 5 else "")


def unended(left: Sequence[Process]) -> list[str]:
    """What to say of processes that could not be ended: another user's, or one that waits for a dead disk."""
    return [f"could not be ended and may still run there: {named(left)}"] if left else []


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
