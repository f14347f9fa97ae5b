"""The state file damaged, newer, on a full disk, in a folder that cannot be written."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from fan.core.model import Status
from tests.support.cli import Fan
from tests.support.disk import fill, small_disk
from tests.support.members import error, listed, sessions, start, stop_courier, tmux, traces
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.wait import eventually

PAGE = 4096


@pytest.fixture
def disk(fan: Fan) -> Iterator[Callable[[Path, str], Path]]:
    """Mounts a small disk at a folder of the test's."""
    with ExitStack() as mounted:
        yield lambda place, size: mounted.enter_context(small_disk(place, size))


def _alone(fan: Fan, repo: Path) -> dict[str, Any]:
    """A member with a store that nobody writes to and that is all in one file."""
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    stop_courier(fan)
    _asked(fan.state / "fan.sqlite3", "PRAGMA wal_checkpoint(TRUNCATE)")
    return row


def _asked(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement).fetchall()


def _noise(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:PAGE] + random.Random(1).randbytes(len(content) - PAGE))


def _cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _garbage(file: Path) -> None:
    file.write_bytes(b"not a database, " * 1000)


def _newer(file: Path) -> None:
    _asked(file, "PRAGMA user_version = 999", "PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize("damage", [_noise, _cut, _garbage, _newer])
def test_every_verb_refuses_and_keeps_the_file(fan: Fan, puppets: Puppets, damage: Callable[[Path], None]) -> None:
    """Each verb says in one sentence what is wrong, with the file's name and exit code 1; the file keeps every byte,
    nothing is typed, made or removed.

    Red when a file that cannot be read is begun anew.
    """
    repo = fan.repos.repo()
    row = _alone(fan, repo)
    file = fan.state / "fan.sqlite3"
    damage(file)
    content, typed, folder = file.read_bytes(), puppets.raw(row), Path(row["path"])
    made = fan.repos.git(repo, "for-each-ref"), sorted(fan.worktrees.rglob("*")), sessions(fan)
    lines = [["ls"], ["send", row["id"], "More"], ["keep", row["id"]], ["rm", row["id"]], ["undo"]]
    for line in (*lines, ["1", "--agent", "puppet", "Do it"], ["why", row["id"]]):
        done = fan.run(*line, "--json", cwd=repo)
        assert (done.code, error(done.out)["code"]) == (1, "store_failed"), (line, done)
        assert str(fan.state) in error(done.out)["message"]
        assert "\n" not in error(done.out)["message"]
    assert file.read_bytes() == content
    assert puppets.raw(row) == typed
    assert folder.is_dir()
    assert (fan.repos.git(repo, "for-each-ref"), sorted(fan.worktrees.rglob("*")), sessions(fan)) == made
    assert fan.run("report", "working", cwd=folder, env={"FAN_MEMBER": row["id"]}).code == 0


def test_a_full_disk_under_the_store(fan: Fan, puppets: Puppets, disk: Callable[[Path, str], Path]) -> None:
    """While nothing can be put on record nothing is typed, made or removed, by the courier neither; what was pending
    arrives once there is room again.

    Red when the courier types what it could not put on record, or dies of it.
    """
    disk(fan.state, "1m")
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet:gate", "--detach", "Do it")
    eventually(lambda: listed(fan, repo)[row["id"]]["kind"] == "trust", within=15)
    with suppress(OSError):
        ballast = fill(fan.state)
    before = traces(fan, repo)
    answered = puppets.raw(row)
    tmux(fan, "send-keys", "-t", row["pane"], "Enter")
    eventually(lambda: puppets.raw(row) != answered)
    tmux(fan, "send-keys", "-t", row["pane"], "Enter")
    eventually(lambda: listed(fan, repo)[row["id"]]["state"] == "rest", within=15)
    big = "x" * 100_000
    for line in (["send", row["id"], big], ["rm", row["id"]], ["1", "--agent", "puppet", big]):
        done = fan.run(*line, "--json", cwd=repo)
        assert done.code == 1, (line, done)
        assert error(done.out)["code"] in ("store_failed", "disk_failed"), done.out
    assert traces(fan, repo) == before
    assert puppets.submitted(row) == []
    ballast.unlink()
    listed(fan, repo)
    puppets.takes(row, "Do it")
    store = Remains(fan, repo).world.store
    eventually(lambda: [one.status for one in store.deliveries(row["id"])] == [Status.SENT], within=15)


@pytest.mark.field("B071")
def test_b071_copies_that_do_not_fit(fan: Fan, puppets: Puppets, disk: Callable[[Path, str], Path]) -> None:
    """Five checkouts that do not fit are refused before anything is made. Where the disk fills up meanwhile, the
    members that are whole stay, the others leave nothing, and the record is readable."""
    disk(fan.worktrees, "30m")
    repo = fan.repos.repo(files={"README.md": "hello\n"})
    (repo / "big.bin").write_bytes(random.Random(1).randbytes(8_000_000))
    (repo / ".gitattributes").write_text("big.bin filter=late\n")
    ballast = fan.worktrees / "ballast"
    waits = f"case $PWD in *-[23]) until [ -e {ballast} ]; do sleep 0.05; done;; esac; cat"
    for key, command in (("clean", "cat"), ("smudge", waits)):
        fan.repos.git(repo, "config", f"filter.late.{key}", command)
    fan.repos.git(repo, "add", ".gitattributes", "big.bin")
    fan.repos.git(repo, "commit", "--quiet", "-m", "Big")
    fan.env["FAN_MIN_FREE_MB"] = "0"
    before = traces(fan, repo)
    refused = fan.run("5", "--agent", "puppet", "--json", "Do it", cwd=repo)
    assert (refused.code, error(refused.out)["code"]) == (1, "disk_failed"), refused.out
    assert traces(fan, repo) == before
    # The first one's hook leaves less room than the two others, whose files wait for it, need.
    fan.repos.hook(repo, f"head -c 16000000 /dev/zero > {ballast}.part; mv {ballast}.part {ballast}")
    done = fan.run("3", "--agent", "puppet", "--json", "Do it", cwd=repo)
    rows = done.json["members"]
    whole = [row for row in rows if row["prompt_status"] == "sent"]
    assert (done.code, len(whole)) == (5, 1), done.out
    for row in whole:
        assert (Path(row["path"]) / "big.bin").stat().st_size == 8_000_000
        puppets.takes(row, "Do it")
    broken = [row for row in rows if row not in whole]
    assert all("big.bin" in row["prompt_note"] or "space" in row["prompt_note"] for row in broken), broken
    made = traces(fan, repo)
    assert [len(made[what]) for what in ("folders", "sessions")] == [len(whole)] * 2
    assert made["branches"] == sorted(["refs/heads/main", *(f"refs/heads/{row['branch']}" for row in whole)])


def test_a_state_folder_that_cannot_be_written(fan: Fan, puppets: Puppets, disk: Callable[[Path, str], Path]) -> None:
    """Every verb that must record says so in one sentence and does nothing."""
    repo = fan.repos.repo()
    if os.geteuid():
        fan.state.mkdir(mode=0o500)
    else:
        disk(fan.state, "1m")
        subprocess.run(["mount", "-o", "remount,ro", str(fan.state)], check=True)
    for line in (["ls"], ["1", "--agent", "puppet", "Do it"], ["send", "x", "y"]):
        done = fan.run(*line, "--json", cwd=repo)
        assert (done.code, error(done.out)["code"]) == (1, "store_failed"), done
        assert str(fan.state) in error(done.out)["message"]
    assert not fan.worktrees.exists()
    assert fan.repos.git(repo, "branch", "--format=%(refname:short)").split() == ["main"]
    assert not [one for one in fan.processes() if one.status() != psutil.STATUS_ZOMBIE]
