"""Two of everything at the same moment."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fan.core.model import Delivery, Phase, Status
from tests.support.cli import PROGRAM, Fan, Result
from tests.support.members import becomes, error, listed, sessions, start, stop_courier, write
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.repos import snapshot
from tests.support.wait import eventually


def _together(fan: Fan, cwd: Path, *lines: list[str], timeout: float = 60) -> list[Result]:
    """Several command lines at the same moment."""
    pipe = subprocess.PIPE
    begun = [
        subprocess.Popen([*PROGRAM, *line, "--json"], cwd=cwd, env=fan.env, stdout=pipe, stderr=pipe, text=True)
        for line in lines
    ]
    ended = [(process, *process.communicate(timeout=timeout)) for process in begun]
    return [Result(process.returncode, out, err) for process, out, err in ended]


def _worked(fan: Fan, repo: Path, count: int) -> tuple[list[dict[str, Any]], list[Any]]:
    """Members with a new file each, and their folders as they are."""
    rows = start(fan, repo, count, "puppet", "Do it")
    for row in rows:
        fan.repos.write(Path(row["path"]), {"new.txt": row["id"]})
    return rows, [snapshot(Path(row["path"])) for row in rows]


def _undo_all(fan: Fan, repo: Path) -> None:
    while fan.run("undo", cwd=repo).code == 0:
        pass


@pytest.mark.timeout(240)
def test_eight_times_fan_8(fan: Fan, puppets: Puppets) -> None:
    """The same line eight times at once makes eight groups and 64 members, each whole and each told its prompt once;
    nothing is left over and the shared configuration keeps every byte.

    Red when the repository's lock is taken by thread and not by process.
    """
    repo = fan.repos.repo()
    remains = Remains(fan, repo)
    config = (repo / ".git" / "config").read_bytes()
    line = ["8", "--agent", "puppet", "--detach", "Mend it"]
    ended = _together(fan, repo, *[line] * 8, timeout=180)
    assert [done.code for done in ended] == [0] * 8, ended
    stems = {done.json["group"] for done in ended}
    assert stems == {"fan/mend", *(f"fan/mend-{letter}" for letter in "bcdefgh")}
    living = remains.living()
    assert (len(living), len({one.path for one in living}), len(sessions(fan))) == (64, 64, 64)
    assert (remains.missing(), remains.strays()) == ([], [])
    assert (repo / ".git" / "config").read_bytes() == config
    eventually(lambda: not remains.world.store.open_deliveries(), within=120, every=0.5)
    told = Counter(text for one in living for text in puppets.submitted({"id": one.id}))
    assert told == {b"Mend it": 64}
    removed = _together(fan, repo, *(["group", "rm", stem] for stem in sorted(stems)), timeout=180)
    assert [done.code for done in removed] == [0] * 8, removed
    assert remains.living() == []
    assert remains.strays(*(one.branch for one in living)) == []
    assert (repo / ".git" / "config").read_bytes() == config


def test_two_keeps_of_one_group(fan: Fan, puppets: Puppets) -> None:
    """With the same winner the work is done once. With two winners one of them stays: the second keep finds its own
    gone, or the first one's gone the way of `rm`; at no time is everything away, and all comes back.

    Red when two removals of one group go side by side.
    """
    repo = fan.repos.repo()
    rows, before = _worked(fan, repo, 3)
    same = _together(fan, repo, *[["keep", rows[0]["id"]]] * 2)
    assert all(done.code == 0 for done in same), same
    assert sum(len(done.json["removed"]) for done in same) == 2
    assert sessions(fan) == [rows[0]["session"]]
    _undo_all(fan, repo)
    assert [snapshot(Path(row["path"])) for row in rows] == before
    _together(fan, repo, ["keep", rows[0]["id"]], ["keep", rows[1]["id"]])
    assert len([row for row in listed(fan, repo).values() if row["id"]]) == 1
    _undo_all(fan, repo)
    assert [snapshot(Path(row["path"])) for row in rows] == before
    assert Remains(fan, repo).missing() == []


def test_keep_and_undo_at_once(fan: Fan, puppets: Puppets) -> None:
    """In whatever order they come, each does all of its work and no byte is lost."""
    repo = fan.repos.repo()
    rows, before = _worked(fan, repo, 3)
    for _ in range(3):
        kept, undone = _together(fan, repo, ["keep", rows[0]["id"]], ["undo"])
        assert kept.code == 0, kept
        assert undone.code == 0 or error(undone.out)["code"] == "not_found", undone
        there = [Path(row["path"]).is_dir() for row in rows]
        assert there in ([True] * 3, [True, False, False])
        _undo_all(fan, repo)
        assert [snapshot(Path(row["path"])) for row in rows] == before
    remains = Remains(fan, repo)
    assert (remains.missing(), remains.strays()) == ([], [])


def test_two_rm_of_one_member(fan: Fan, puppets: Puppets) -> None:
    """One does it and the other finds it gone; one `undo` brings it back as it was."""
    repo = fan.repos.repo()
    (row,), (before,) = _worked(fan, repo, 1)
    first, second = sorted(_together(fan, repo, *[["rm", row["id"]]] * 2), key=lambda done: done.code)
    assert (first.code, len(first.json["removed"])) == (0, 1), first
    assert (second.code, error(second.out)["code"]) == (1, "not_found"), second
    assert fan.run("undo", cwd=repo).code == 0
    assert snapshot(Path(row["path"])) == before


def test_two_retries_type_once(fan: Fan, puppets: Puppets) -> None:
    """Of two `send --retry` one puts the prompt in the queue again; it arrives once."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    store = Remains(fan, repo).world.store
    given_up = Delivery(
        0, row["id"], "Then that", time.time(), status=Status.NOT_SENT, phase=Phase.DONE, note="not at rest"
    )
    store.add_delivery(given_up)
    ended = _together(fan, repo, *[["send", "--retry", row["id"]]] * 3)
    assert sorted(done.code for done in ended) == [0, 1, 1], ended
    puppets.takes(row, "Do it", "Then that")
    becomes(fan, row, prompt_status="sent")
    assert puppets.raw(row).count(b"Then that") == 1


def test_only_one_courier_types(fan: Fan, puppets: Puppets) -> None:
    """Of five couriers started in the same moment four leave; every prompt arrives once.

    Red when the lock is given back while the courier runs.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet:gate", "--detach", "Do it")
    for row in rows:
        becomes(fan, row, kind="trust")
    stop_courier(fan)
    command = [sys.executable, "-P", "-m", "fan.courier"]
    others = [subprocess.Popen(command, env=fan.env, stderr=subprocess.DEVNULL) for _ in range(4)]
    listed(fan, repo)
    for row in rows:
        write(fan, row, "\r")
        write(fan, row, "\r")
    # Whoever looks starts a courier where the one that won has left.
    eventually(lambda: listed(fan, repo) and all(puppets.submitted(row) for row in rows), within=60, every=0.3)
    for row in rows:
        puppets.takes(row, "Do it")
    eventually(lambda: sum(one.poll() is None for one in others) <= 1, within=10)
    store = Remains(fan, repo).world.store
    eventually(lambda: all(one.status is Status.SENT for row in rows for one in store.deliveries(row["id"])))
    assert [puppets.raw(row).count(b"Do it") for row in rows] == [1, 1, 1]
    for one in others:
        one.terminate()
        one.wait(10)
