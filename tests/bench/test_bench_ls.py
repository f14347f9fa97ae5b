"""`fan ls` of 100 small worktrees against the same questions asked by a shell."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from fan.core.model import Member
from tests.bench.measure import cost, medians, process, shown, told
from tests.bench.population import populate
from tests.support.cli import PROGRAM, Fan
from tests.support.wait import eventually

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]
MEMBERS, ROUNDS = 100, 11
BUDGET, WITHOUT_GIT = 1.5, 0.5


def _floor(fan: Fan, members: list[Member]) -> Callable[[], object]:
    paths = " ".join(shlex.quote(str(one.path)) for one in members)
    status = "git --no-optional-locks -C @ status --porcelain=v2 --branch"
    panes = f"tmux -S {fan.runtime / 'tmux'} -N list-panes -a"
    shell = f"printf '%s\\n' {paths} | xargs -P8 -I@ {status}; {panes}"
    return process(["sh", "-c", shell], fan.env, fan.repos.home)


def test_ls_of_100_members(fan: Fan) -> None:
    """With states and changes at most 1.5 times the shell's floor, without git under half of that floor."""
    repo = fan.repos.repo(files={f"src/{n // 10}/file-{n}.py": f"print({n})\n" * 20 for n in range(100)})
    _, members = populate(fan, repo, ["idle"] * MEMBERS)
    for one in members:
        fan.repos.git(one.path, "update-index", "-q", "--refresh")
    eventually(lambda: _states(fan, members) == ["rest"] * MEMBERS, within=60, every=0.2)
    floor = _floor(fan, members)
    for words, budget in ((["ls"], BUDGET), (["ls", "--no-git"], WITHOUT_GIT)):
        ours = process([*PROGRAM, *words], fan.env, repo)
        own, base = medians(lambda ours=ours: cost(ours), lambda: cost(floor), ROUNDS)  # type: ignore[misc]
        shown(f"fan {' '.join(words)} of {MEMBERS}, by the clock", own.wall, base.wall, budget)
        told(f"fan {' '.join(words)} of {MEMBERS}, in CPU", own.cpu, base.cpu, budget)


def _states(fan: Fan, members: list[Member]) -> list[str]:
    shown = fan.run("ls", "--no-git", "--all", "--json").json
    return [row["state"] for row in shown if row["managed"]]
