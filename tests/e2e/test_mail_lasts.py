"""Mail of members and groups that are gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from filelock import FileLock

from tests.support.cli import Fan
from tests.support.members import becomes, start, stop_courier
from tests.support.puppets import Puppets


def test_what_was_written_outlives_its_group(fan: Fan, puppets: Puppets) -> None:
    """With the last member gone its inbox can be read, as undeliverable; a new group of the same name has its own
    threads. Red when a removed one is unknown, or when the name means both groups."""
    repo = fan.repos.repo()
    first, second = "you will not read this", "welcome"
    for text in (first, second):
        (row,) = start(fan, repo, 1, "puppet", "Do it")
        becomes(fan, row, state="rest", turn="done")
        assert fan.run("mail", "send", row["id"], text, cwd=repo).code == 0
        assert first == text or [one["about"] for one in _talks(fan, repo)] == [second]
        assert fan.run("rm", row["id"], cwd=repo).code == 0
        (lost,) = fan.run("mail", "read", row["id"], "--json", cwd=repo).json["messages"]
        assert (lost["body"], lost["undeliverable"]) == (text, "its member was removed")
        assert [one["about"] for one in _talks(fan, repo)] == [text]


def test_what_is_told_as_failed_was_not_sent(fan: Fan, puppets: Puppets) -> None:
    """With no courier to be had, sending is refused, and nothing lies in any inbox: sent again it is there once.

    Red when the message is stored before the courier is looked for.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    becomes(fan, row, state="rest", turn="done")
    stop_courier(fan)
    with FileLock(fan.state / "courier.lock", timeout=10):
        assert fan.run("mail", "send", row["id"], "once", cwd=repo).code == 1
    assert fan.run("mail", "send", row["id"], "once", cwd=repo).code == 0
    assert len(fan.run("mail", "read", row["id"], "--json", cwd=repo).json["messages"]) == 1


def _talks(fan: Fan, repo: Path) -> list[dict[str, Any]]:
    """The threads of the group by its name."""
    found: list[dict[str, Any]] = fan.run("mail", "ls", "--group", "fan/do", "--json", cwd=repo).json
    return found
