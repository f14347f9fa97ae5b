"""`fan ls` of 100 small worktrees against the same questions asked by a shell."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from fan.core.model import Member
from tests.bench.measure import cost, medians, process, told
from tests.bench.population import populate
from tests.support.cli import PROGRAM, Fan
from tests.support.wait import eventually

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]
MEMBERS, ROUNDS = 100, 9
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
    members = populate(fan, repo, MEMBERS)
    for one in members:
        fan.repos.git(one.path, "update-index", "-q", "--refresh")
    listed = lambda: fan.run("ls", "--json", cwd=repo).json  # noqa: E731
    eventually(lambda: [row["state"] for row in listed()] == ["rest"] * MEMBERS, within=60)
    floor = _floor(fan, members)
    for words, budget in ((["ls"], BUDGET), (["ls", "--no-git"], WITHOUT_GIT)):
        ours = process([*PROGRAM, *words], fan.env, repo)
        own, base = medians(lambda: cost(ours), lambda: cost(floor), ROUNDS)
        told(f"fan {' '.join(words)} of {MEMBERS}", own.wall, base.wall, budget)
        print(f"  in CPU: {own.cpu / base.cpu:.2f} [{own.cpu * 1000:.0f} / {base.cpu * 1000:.0f} ms]")
