"""`fan N` and `send` killed before each of their effects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest

from fan.core.standing import pending
from tests.support.cli import Fan
from tests.support.killing import Ended, Killing, killing
from tests.support.members import recipe, sessions
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.wait import eventually

SHARES = 4
STRIDE = 9
MOST = 300


def _asking(puppets: Puppets) -> str:
    """An agent that asks for trust once per repository, so that the second member is held at a fifo."""
    recipe(puppets, "asking", more='[trust]\nscope = "repository"')
    return "asking"


def _ls(run: Killing, repo: Path) -> list[dict[str, Any]]:
    listed = run.run("ls", "--json", cwd=repo)
    assert listed.code == 0, listed
    return [row for row in listed.json if row["id"]]


def _interrupted(row: dict[str, Any]) -> bool:
    return bool(row["prompt_note"].startswith("interrupted at step"))


def _quiet(fan: Fan) -> None:
    """Waits until what the killed one had started has ended too."""
    eventually(lambda: not any(_is_git(one) for one in fan.processes()), within=10)


def _is_git(process: psutil.Process) -> bool:
    try:
        return process.name() == "git"
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("share", range(SHARES))
def test_fan_n_killed_before_each_effect(fan: Fan, puppets: Puppets, share: int) -> None:
    """Wherever `fan 2` is killed, `ls` says at once what is not made and which line takes it away, the same line
    works again, and after `group rm` nothing of the broken group is left, its branches included.

    Red when `ls` waits for a courier to notice, or when `rm` finds no worktree and stops there.
    """
    repo = fan.repos.repo()
    remains = Remains(fan, repo)
    line = ("2", "--agent", _asking(puppets), "--json", "--detach", "Do it")
    config = (repo / ".git" / "config").read_bytes()
    with killing(fan) as run:
        for number in range(share, MOST, STRIDE):
            killed = run.run(*line, cwd=repo, before=number)
            where = killed.points[-1]
            rows = _ls(run, repo)
            assert len(rows) in (0, 2), where
            for row in rows:
                assert _interrupted(row) is not (row["session"] in sessions(fan) and row["pane"] != ""), (where, row)
                assert not _interrupted(row) or f"fan rm {row['id']}" in row["prompt_note"]
            _quiet(fan)
            again = run.run(*line, cwd=repo)
            assert (again.code, len(again.json["members"])) == (0, 2), (where, again)
            whole = [row for row in rows if not _interrupted(row)] + again.json["members"]
            for stem in {row["group"] for row in (*rows, *whole)}:
                removed = run.run("group", "rm", stem, "--json", cwd=repo)
                assert removed.code == 0, (where, removed)
            # An agent that was told something may have worked on its branch.
            kept = {row["branch"] for row in whole}
            assert (_ls(run, repo), remains.strays(*kept)) == ([], []), where
            for name in kept.intersection(remains.branches()):
                fan.repos.git(repo, "branch", "--quiet", "-D", name)
            assert (repo / ".git" / "config").read_bytes() == config, where
            if not killed.killed:
                return
    pytest.fail("it was killed at every point")


def test_send_killed_before_each_effect(fan: Fan, puppets: Puppets) -> None:
    """Wherever `send` is killed, a text that is on record arrives exactly once, and one that is not never does; a
    large one too."""
    repo = fan.repos.repo()
    with killing(fan) as run:
        made = run.run("1", "--agent", "puppet", "--json", "Do it", cwd=repo)
        assert made.code == 0, made
        (row,) = made.json["members"]
        world = Remains(fan, repo).world
        killed: list[Ended] = []
        for number in range(MOST):
            text = f"text {number} " + ("x" * 200_000 if number % 2 else "")
            killed.append(run.run("send", row["id"], text, "--json", cwd=repo, before=number // 2))
            if not killed[-1].killed:
                break
        assert _ls(run, repo)
        eventually(lambda: not pending(world.store.open_deliveries()), within=40)
        on_record = [one.text for one in world.store.deliveries(row["id"])]
        puppets.takes(row, *on_record)
    assert not killed[-1].killed
    assert any(one.killed for one in killed)
    assert 1 < len(on_record) <= len(killed) + 1
