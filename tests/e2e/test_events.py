"""`fan events`: numbered, followed, and honest about what is no longer kept."""

from __future__ import annotations

import json
import subprocess

from tests.support.asking import world_of
from tests.support.cli import PROGRAM, Fan, Result
from tests.support.members import becomes, start
from tests.support.puppets import Puppets
from tests.support.wait import eventually


def _objects(done: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.out.splitlines()]


def test_what_happened_is_told_in_order(fan: Fan, puppets: Puppets) -> None:
    """States, deliveries, sessions and messages have numbers without a hole; a message is an id and nothing more;
    one can go on behind any number.

    Red when a body or a prompt is told.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "--name", "x", "Do it secretly")
    becomes(fan, row, state="rest", turn="done")
    assert fan.run("mail", "send", "human", "Nobody else reads this", cwd=repo).code == 0
    done, kinds = Result(0, "", ""), list[tuple[str, str]]()

    def is_told() -> bool:
        # `ls` looks for itself: what it shows at rest the courier may put on record later, behind the message even.
        nonlocal done, kinds
        done = fan.run("events", "--json", cwd=repo)
        kinds = [(str(one["kind"]), str(one["what"])) for one in _objects(done)]
        return ("state", "rest") in kinds

    eventually(is_told, within=20, every=0.2)
    found = _objects(done)
    assert [one["seq"] for one in found] == list(range(1, len(found) + 1))
    queued, opened, sent, mailed = map(
        kinds.index, (("delivery", "pending"), ("session", "opened"), ("delivery", "sent"), ("message", "mail"))
    )
    assert queued < opened < sent < mailed
    assert "secretly" not in done.out
    assert "Nobody" not in done.out
    two = _objects(fan.run("events", "--after", "2", "--limit", "2", "--json", cwd=repo))
    assert [one["seq"] for one in two] == [3, 4]
    mail = fan.run("events", "--after", str(mailed), "--limit", "1", cwd=repo).out
    assert mail.startswith(f"{mailed + 1}  ")
    assert "message  mail" in mail


def test_what_happens_is_told_at_once(fan: Fan, puppets: Puppets) -> None:
    """A follower gets what comes while it runs, each event once and in order, and a gap first where it has missed
    some."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    becomes(fan, row, state="rest", turn="done")
    with world_of(fan, repo) as world:
        with world.store._write() as db:
            db.execute("DELETE FROM events WHERE seq <= 3")
        newest = world.store.last_event()
        command = [*PROGRAM, "events", "--follow", "--after", "1", "--json"]
        with subprocess.Popen(command, cwd=repo, env=fan.env, stdout=subprocess.PIPE, text=True) as follower:
            assert follower.stdout
            first = json.loads(follower.stdout.readline())
            assert (first["kind"], first["seq"], first["what"]) == ("gap", 3, "2")
            told = [json.loads(follower.stdout.readline()) for _ in range(newest - 3)]
            assert [one["seq"] for one in told] == list(range(4, newest + 1))
            assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
            puppets.takes(row, "Do it", "Then this")
            later = [json.loads(follower.stdout.readline())]
            while later[-1]["what"] != "sent":
                later.append(json.loads(follower.stdout.readline()))
            assert [one["seq"] for one in later] == list(range(newest + 1, newest + 1 + len(later)))
            assert [one["what"] for one in later if one["kind"] == "delivery"] == ["pending", "sent"]
            follower.terminate()


def test_a_reader_that_stands_still_holds_up_nobody(fan: Fan, puppets: Puppets) -> None:
    """With a follower whose output nobody reads, a prompt is taken as quickly as ever.

    Red when a reader keeps its read open while it writes.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    with world_of(fan, repo) as world, world.store._write() as db:
        change = (
            "INSERT INTO changes (member, state, kind, detail, decided_by, since) VALUES (?, 'rest', '', '', '', 5)"
        )
        db.executemany(change, [(row["id"],)] * 3000)
    command = [*PROGRAM, "events", "--follow", "--after", "0", "--json"]
    with subprocess.Popen(command, cwd=repo, env=fan.env, stdout=subprocess.PIPE) as follower:
        assert follower.stdout
        follower.stdout.read(1)
        assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
        puppets.takes(row, "Do it", "Then this")
        follower.kill()
