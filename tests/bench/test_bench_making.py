"""Worktrees and sessions against the plain git and tmux commands that make the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from fan.verbs.plan import StartRequest
from fan.verbs.start import start
from fan.world.tmux import Tmux
from fan.world.world import open_world
from tests.bench.measure import Cost, cost, cpu_of, medians, shown, told
from tests.bench.population import know_agents
from tests.support.cli import Fan
from tests.support.listening import Silent
from tests.support.tmux import ground

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]
WORKTREES, FILES, SESSIONS = 10, 5000, 100
ROUNDS = 5
MEMORY = Path("/dev/shm")


@contextmanager
def _home_in_memory() -> Iterator[Fan]:
    """`fan` with its worktrees on a file system that costs no disk."""
    folder = Path(tempfile.mkdtemp(prefix="fan-b-", dir=MEMORY if MEMORY.is_dir() else None))
    fan = Fan(folder)
    know_agents(fan)
    try:
        yield fan
    finally:
        fan.end()
        shutil.rmtree(folder)


def _repository(fan: Fan) -> Path:
    text = "x" * 76 + "\n"
    return fan.repos.repo(files={f"src/{n // 100}/file-{n}.txt": f"{n}\n" + text * 57 for n in range(FILES)})


def _serial(fan: Fan, repo: Path) -> Cost:
    def loop() -> None:
        for n in range(WORKTREES):
            fan.repos.git(repo, "worktree", "add", "--quiet", "-b", f"floor-{n}", str(fan.folder / f"f{n}"))

    found = cost(loop)
    for n in range(WORKTREES):
        fan.repos.git(repo, "worktree", "remove", "--force", str(fan.folder / f"f{n}"))
        fan.repos.git(repo, "branch", "-q", "-D", f"floor-{n}")
    return found


def test_10_worktrees_of_5000_files() -> None:
    """Worktrees with sessions take at most 0.65 of the serial loop; the first agent starts before the third is full.

    The time of the program's own start is not in it; it is told beside it.
    """
    rounds = [_round(as_command=n % 2 == 1) for n in range(2 * ROUNDS)]
    within, whole = rounds[::2], rounds[1::2]
    own, floor = median(one.own for one in within), median(one.floor for one in within)
    told(f"{WORKTREES} worktrees of {FILES} files with sessions, {ROUNDS} rounds", own, floor, 0.65)
    print(f"  as a whole command: {median(one.own for one in whole) / median(one.floor for one in whole):.2f}")
    print(f"  first agent before the third worktree was full: {[one.is_early for one in rounds]}")
    assert any(one.is_early for one in rounds)


class Round(NamedTuple):
    """Seconds of ours and of the serial loop, and whether the first agent had not to wait for the third worktree."""

    own: float
    floor: float
    is_early: bool


def _round(*, as_command: bool) -> Round:
    with _home_in_memory() as fan:
        repo, log = _repository(fan), fan.folder / "log"
        log.mkdir()
        fan.env["IDLE_LOG"] = str(log)
        floor = _serial(fan, repo)
        made = cost(lambda: (_by_command if as_command else _in_process)(fan, repo))
        full = sorted(one.stat().st_mtime for one in (repo / ".git" / "worktrees").glob("*/index"))
        begun = sorted(one.stat().st_mtime for one in log.iterdir())
        return Round(made.wall, floor.wall, begun[0] < full[2])


def _in_process(fan: Fan, repo: Path) -> None:
    request = StartRequest(agents=("idle",), prompt="Do it", count=WORKTREES, name="many", detach=True)
    assert start(open_world(fan.env, repo), request, Silent()).exit_code == 0


def _by_command(fan: Fan, repo: Path) -> None:
    words = (str(WORKTREES), "--agent", "idle", "--name", "many", "--detach", "Do it")
    done = fan.run(*words, cwd=repo, timeout=120)
    assert done.code == 0, done.err


def _sessions(start: Callable[[Tmux, Path], object]) -> Cost:
    """What `start` costs on a server that runs already, its share included."""
    with ground() as own:
        own.open()
        server = own.server_pid()
        before = cpu_of(server)
        found = cost(lambda: start(own.tmux, own.folder))
        assert len(own.raw("list-sessions").splitlines()) == SESSIONS + 1
        return Cost(found.wall, found.cpu + cpu_of(server) - before)


def _chained(tmux: Tmux, cwd: Path) -> None:
    words = ("new-session", "-d", "-x", "220", "-y", "50", "-c", str(cwd))
    names = [f"s{n}" for n in range(SESSIONS)]
    for some in (names[: SESSIONS // 2], names[SESSIONS // 2 :]):  # one message holds 16 KiB
        tmux.process.chain([(*words, "-s", name, "cat") for name in some])


def _ours(tmux: Tmux, cwd: Path) -> None:
    def open_one(n: int) -> None:
        tmux.open_session(f"s{n}", cwd, ["cat"], tmux.environ, member=f"m{n}", launch=f"l{n}", group="g")

    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        list(pool.map(open_one, range(SESSIONS)))


def test_100_sessions() -> None:
    """At most 1.5 times one chained tmux command."""
    own, floor = medians(lambda: _sessions(_ours), lambda: _sessions(_chained), 5)
    shown(f"{SESSIONS} sessions, by the clock", own.wall, floor.wall, 1.5)
    told(f"{SESSIONS} sessions, in CPU", own.cpu, floor.cpu, 1.5)
