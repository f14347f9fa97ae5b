"""`rm`, `keep` and `undo` killed before each of their effects."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Fan
from tests.support.killing import Ended, Killing, killing
from tests.support.members import sessions
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.repos import snapshot
from tests.support.wait import eventually

SHARES = 4
STRIDE = 9
MOST = 300


class Scene:
    """One repository in which groups are made, worked in, and removed."""

    def __init__(self, fan: Fan, run: Killing) -> None:
        self.fan, self.killing = fan, run
        self.repo = fan.repos.repo()
        self.remains = Remains(fan, self.repo)

    def run(self, *words: str, before: int | None = None) -> Ended:
        """One line in the repository."""
        return self.killing.run(*words, "--json", cwd=self.repo, before=before)

    def group(self, count: int) -> list[dict[str, Any]]:
        """Members with staged, changed, ignored and new files."""
        made = self.run(str(count), "--agent", "puppet", "--detach", "Do it")
        assert made.code == 0, made.err
        rows: list[dict[str, Any]] = made.json["members"]
        for row in rows:
            place = Path(row["path"])
            files = {"new/one.txt": row["id"], "README.md": "changed\n", "staged.txt": "s\n", "run.log": "ignored\n"}
            self.fan.repos.write(place, files)
            # The courier looks a new worktree's index over once, and holds its lock meanwhile.
            eventually(partial(self._add, place))
        return rows

    def _add(self, place: Path) -> bool:
        command = ["git", "add", "staged.txt"]
        return not subprocess.run(command, cwd=place, env=self.fan.env, capture_output=True, check=False).returncode

    def seen(self, row: dict[str, Any]) -> tuple[Any, str]:
        """A member's files, and what git says of them."""
        place = Path(row["path"])
        return snapshot(place), self.fan.repos.git(place, "status", "--porcelain=v2", "--branch")

    def tells_the_truth(self) -> list[str]:
        """The ids that `fan ls` shows; each is `gone` exactly when folder or session is away."""
        listed = self.run("ls")
        assert listed.code == 0, listed.out
        there = sessions(self.fan)
        rows = [row for row in listed.json if row["id"]]
        for row in rows:
            away = row["session"] not in there or not Path(row["path"]).is_dir()
            assert row["gone"] is away, row
        return [row["id"] for row in rows]

    def finishes(self, *words: str) -> None:
        """The same line again does what is left to do, or says that there is nothing left."""
        again = self.run(*words)
        assert again.code == 0 or again.error == "not_found", again


def _scene(fan: Fan, run: Killing) -> Scene:
    scene = Scene(fan, run)
    fan.repos.commit(scene.repo, {".gitignore": "*.log\n"})
    return scene


@pytest.mark.parametrize("share", range(SHARES))
def test_rm_killed_before_each_effect(fan: Fan, puppets: Puppets, share: int) -> None:
    """Wherever `rm` is killed, `ls` tells what is there, `rm` again finishes or `undo` takes back, and the work is
    whole either way. In the first round the agents live, later they are gone already.

    Red when a removal that was broken off is begun anew under another archive: `undo` then brings back less.
    """
    with killing(fan) as run:
        scene = _scene(fan, run)
        rows = scene.group(2)
        before = [scene.seen(row) for row in rows]
        for number in range(share, MOST, SHARES):
            killed = [scene.run("rm", row["id"], before=number) for row in rows]
            where = [one.points[-1] for one in killed]
            scene.tells_the_truth()
            scene.finishes("undo")
            assert scene.seen(rows[1]) == before[1], where
            scene.finishes("rm", rows[0]["id"])
            assert not Path(rows[0]["path"]).exists()
            assert scene.tells_the_truth() == [rows[1]["id"]], where
            assert scene.remains.missing() == [], where
            assert scene.remains.strays(rows[0]["branch"]) == [], where
            assert scene.run("undo").code == 0, where
            assert [scene.seen(row) for row in rows] == before, where
            if not any(one.killed for one in killed):
                return
    pytest.fail("it was killed at every point")


@pytest.mark.parametrize("share", range(SHARES))
def test_undo_killed_before_each_effect(fan: Fan, puppets: Puppets, share: int) -> None:
    """Wherever `undo` is killed, `undo` again brings the rest back, byte for byte.

    Red when the record says that a member is back before it is.
    """
    with killing(fan) as run:
        scene = _scene(fan, run)
        rows = scene.group(2)
        before = [scene.seen(row) for row in rows]
        for number in range(share, MOST, SHARES):
            assert scene.run("group", "rm", rows[0]["group"]).code == 0
            killed = scene.run("undo", before=number)
            scene.tells_the_truth()
            scene.finishes("undo")
            assert [scene.seen(row) for row in rows] == before, killed.points[-1]
            assert (scene.remains.missing(), scene.remains.strays()) == ([], []), killed.points[-1]
            if not killed.killed:
                return
    pytest.fail("it was killed at every point")


@pytest.mark.parametrize("share", range(SHARES))
def test_keep_killed_before_each_effect(fan: Fan, puppets: Puppets, share: int) -> None:
    """Wherever `keep` is killed, the winner is untouched and `keep` again removes the rest; all of it comes back."""
    with killing(fan) as run:
        scene = _scene(fan, run)
        rows = scene.group(3)
        before = [scene.seen(row) for row in rows]
        for number in range(share, MOST, STRIDE):
            killed = scene.run("keep", rows[0]["id"], before=number)
            scene.tells_the_truth()
            scene.finishes("keep", rows[0]["id"])
            assert scene.tells_the_truth() == [rows[0]["id"]], killed.points[-1]
            assert scene.remains.strays(*(row["branch"] for row in rows)) == [], killed.points[-1]
            assert scene.seen(rows[0]) == before[0]
            while scene.run("undo").code == 0:
                pass
            assert [scene.seen(row) for row in rows] == before, killed.points[-1]
            if not killed.killed:
                return
    pytest.fail("it was killed at every point")
