"""Both sides of a budget, measured in turn in one run, and the line that tells how they compare."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

SLACK = 3.0
"""Shared machines are noisy: a benchmark only fails this far above its budget, and by the clock never."""


class Cost(NamedTuple):
    """Seconds that something took: by the clock, and of processors (children that have ended included)."""

    wall: float
    cpu: float


def cost(act: Callable[[], object]) -> Cost:
    """What `act` costs, done once."""
    cpu, begun = _cpu(), time.perf_counter()
    act()
    return Cost(time.perf_counter() - begun, _cpu() - cpu)


def process(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, *, stdin: bytes = b"", codes: Sequence[int] = (0,)
) -> Callable[[], object]:
    """Runs a program to its end, its output thrown away."""

    def run() -> None:
        done = subprocess.run(argv, env=env, cwd=cwd, input=stdin, capture_output=True, check=False)
        assert done.returncode in codes, done.stderr

    return run


def medians(ours: Callable[[], Cost], floor: Callable[[], Cost], rounds: int) -> tuple[Cost, Cost]:
    """The medians of both, run in turn; the first round only warms up."""
    pairs = [(floor(), ours()) for _ in range(rounds + 1)][1:]
    return _median([own for _, own in pairs]), _median([base for base, _ in pairs])


def told(name: str, ours: float, floor: float, budget: float, unit: str = "ms") -> None:
    """Print how `ours` (seconds) stands to `floor`; fails only far above the budget."""
    shown(name, ours, floor, budget, unit)
    assert ours / floor <= budget * SLACK


def shown(name: str, ours: float, floor: float, budget: float, unit: str = "ms") -> None:
    """Print how `ours` (seconds) stands to `floor`."""
    print(f"\n{name}: {ours / floor:.2f} ({budget:g}) [{ours * 1000:.1f} / {floor * 1000:.1f} {unit}] {_load()}")


def told_absolute(name: str, found: float, budget: float, unit: str) -> None:
    """Print a figure that has no floor in the same run."""
    print(f"\n{name}: {found:.1f} {unit} ({budget:g}) {_load()}")
    assert found <= budget * SLACK


def cpu_of(pid: int) -> float:
    """Processor seconds of a process and of its children that have ended."""
    return sum(psutil.Process(pid).cpu_times()[:4])


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(statistics.median(one.wall for one in costs), statistics.median(one.cpu for one in costs))


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"
