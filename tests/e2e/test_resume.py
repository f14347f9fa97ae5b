"""`fan resume`: after a killed tmux server the group comes back, and no prompt is lost or typed twice."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.cli import Fan
from tests.support.members import (
    becomes,
    error,
    now,
    press,
    recipe,
    sessions,
    start,
    stop_tmux,
    tmux,
)
from tests.support.puppets import Puppets, puppets
from tests.support.tmux import alive
from tests.support.wait import eventually

__all__ = ["puppets"]

pytestmark = pytest.mark.timeout(180)
DEMO = {"FAN_DEMO_SPEED": "20"}


def _talks(fan: Fan) -> dict[str, list[str]]:
    """The prompts that demo agents took, by conversation."""
    found = {}
    for file in (fan.folder / "d" / "sessions").glob("*"):
        items = [json.loads(line) for line in file.read_text().splitlines()]
        found[file.stem] = [item["text"] for item in items if item["type"] == "user"]
    return found


@pytest.mark.field("B042")
def test_a_group_comes_back_with_its_conversations(fan: Fan) -> None:
    """After the server was killed, `ls` names `fan resume`; it opens each session again, and the agents go on with
    the conversations they had. What was sent stays sent, and once.

    Red when the agent is started without its resume command.
    """
    fan.env |= DEMO | {"FAN_DEMO_HOME": str(fan.folder / "d")}
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "demo", "--wait", "Do it")
    for row in rows:
        becomes(fan, row, state="rest", turn="done")
    before = _talks(fan)
    assert list(before.values()) == [["Do it"]] * 2
    stop_tmux(fan)
    shown = fan.run("ls", cwd=repo)
    assert "2 sessions are gone; " in shown.err
    assert "fan resume" in shown.err
    done = fan.run("resume", "--json", cwd=repo)
    assert (done.code, done.json["left"]) == (0, []), done.out
    assert [row["id"] for row in done.json["members"]] == [row["id"] for row in rows]
    assert "--env" in done.err
    for row in rows:
        again = becomes(fan, row, state="rest", gone=False)
        assert (again["prompt_status"], again["turn"]) == ("sent", "done")
        assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
    eventually(lambda: _talks(fan) == {name: ["Do it", "Then this"] for name in before}, within=30)
    assert fan.run("resume", cwd=repo).err.count("nothing to resume") == 1


@pytest.mark.field("B042")
def test_a_pending_prompt_is_sent_once_after_it(fan: Fan, puppets: Puppets) -> None:
    """A prompt that waits at a trust question outlives server and courier; after `resume` the agent asks again, and
    once it is answered the prompt is typed exactly once.

    Red when a killed server turns it into `not_sent`, or when it is typed at the question.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet:gate", "Do it", code=3)
    stop_tmux(fan)
    shown = now(fan, row)
    assert (shown["prompt_status"], shown["gone"]) == ("pending", True)
    done = fan.run("resume", row["group"], cwd=repo)
    assert done.code == 0, done.err
    assert "1 prompt is still pending" in done.err
    fresh = becomes(fan, row, state="needs_input", kind="trust", prompt_status="pending")
    press(fan, fresh, "Enter")
    becomes(fan, row, kind="choice")
    press(fan, fresh, "Enter")
    puppets.takes(row, "Do it")
    assert becomes(fan, row, prompt_status="sent")["typed"] == "yes"
    assert puppets.raw(row).count(b"Do it") == 1


def test_one_asks_for_trust_and_the_others_are_held_again(fan: Fan, puppets: Puppets) -> None:
    """Of three whose agent asks once per repository, the first starts and the others wait for its answer, as at a
    start; then all get their prompt once.

    Red when a held one is resumed as if it had been answered.
    """
    recipe(puppets, "asking", more='[trust]\nscope = "repository"')
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "asking:gate", "Do it", code=3)
    stop_tmux(fan)
    done = fan.run("resume", "--json", cwd=repo)
    assert (done.code, len(done.json["members"])) == (0, 3), done.out
    assert "the first one waits for your answer" in done.err
    first = becomes(fan, rows[0], state="needs_input", kind="trust")
    details = [now(fan, row)["detail"] for row in rows[1:]]
    assert all("trust question" in detail for detail in details), details
    assert [puppets.raw(row) for row in rows] == [b""] * 3
    press(fan, first, "Enter")
    becomes(fan, rows[0], kind="choice")
    for row in rows:
        again = becomes(fan, row, state="needs_input")
        eventually(lambda row=row, again=again: _through(fan, row, again), within=20)  # type: ignore[misc]
        puppets.takes(row, "Do it")


def _through(fan: Fan, row: dict[str, str], again: dict[str, str]) -> bool:
    """Answers whatever it asks, until its prompt has gone in."""
    shown = now(fan, row)
    if shown["state"] == "needs_input":
        press(fan, again, "Enter")
    return bool(shown["prompt_status"] == "sent")


@pytest.mark.field("B042")
def test_an_agent_that_has_left_starts_again_when_it_is_named(fan: Fan, puppets: Puppets) -> None:
    """One that exited with 1 keeps its last screen under `resume` and `resume GROUP`, which name the command; named
    itself it starts again, in its own folder, and its branch is as it was.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it", code=1, env={"PUPPET_ARGS": "--die 1:1"})
    becomes(fan, row, state="exited", detail="its agent exited with code 1")
    told = fan.run("resume", row["group"], cwd=repo)
    assert (told.code, f"fan resume {row['id']}" in told.err) == (0, True), told.err
    assert now(fan, row)["state"] == "exited"
    assert fan.run("resume", row["id"], cwd=repo).code == 0
    becomes(fan, row, state="rest", gone=False)
    assert sessions(fan) == [row["session"]]
    assert puppets.events(row, "start")[1]["cwd"] == row["path"]
    assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
    eventually(lambda: puppets.submitted(row)[-1:] == [b"Then this"], within=20)


def test_two_at_once_open_each_session_once(fan: Fan, puppets: Puppets) -> None:
    """Both end well, and each member has one agent, which `ls` knows.

    Red when the second one gives a member a launch that no session has.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet", "Do it")
    stop_tmux(fan)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: fan.run("resume", "--json", cwd=repo), range(2)))
    assert [one.code for one in both] == [0, 0], [one.out for one in both]
    assert sorted(len(one.json["members"]) for one in both) == [0, 3]
    assert len(sessions(fan)) == 3
    for row in rows:
        becomes(fan, row, state="rest", gone=False)
        assert len(puppets.events(row, "start")) == 2


def test_what_cannot_be_resumed_is_said_and_the_rest_comes_back(fan: Fan, puppets: Puppets) -> None:
    """A folder that is gone is named with the reason (exit code 5), the other one is back; a name that nobody has is
    refused before anything happens."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    stop_tmux(fan)
    Path(rows[0]["path"]).rename(fan.folder / "away")
    unknown = fan.run("resume", "--json", "nobody-here", cwd=repo)
    assert (unknown.code, error(unknown.out)["code"]) == (1, "not_found")
    assert sessions(fan) == []
    done = fan.run("resume", "--json", cwd=repo)
    assert (done.code, len(done.json["members"])) == (5, 1)
    assert "is gone" in done.json["left"][0]["reason"]
    assert sessions(fan) == [rows[1]["session"]]


def test_after_an_undo_the_agents_come_back_too(fan: Fan, puppets: Puppets) -> None:
    """A removed member that is restored has no session; `resume` gives it one, in its restored folder."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    assert fan.run("rm", row["id"], cwd=repo).code == 0
    assert fan.run("undo", cwd=repo).code == 0
    assert now(fan, row)["gone"] is True
    assert fan.run("resume", row["id"], cwd=repo).code == 0
    becomes(fan, row, state="rest", gone=False)


def test_an_agent_that_outlived_its_session_is_not_doubled(fan: Fan, puppets: Puppets) -> None:
    """One that ignores the end of its terminal is ended, and named, before the next one starts in its folder.

    Red when two agents work in one folder after `resume`.
    """
    program = puppets.folder / "deaf.sh"
    program.write_text("#!/bin/sh\ntrap '' HUP\nwhile :; do sleep 0.2; done\n")
    program.chmod(0o755)
    fan.env["PATH"] = os.pathsep.join([str(puppets.folder), fan.env["PATH"]])
    recipe(puppets, "deaf", ('command = ["puppet.py"]', 'command = ["deaf.sh"]'))
    repo = fan.repos.repo()
    start(fan, repo, 1, "deaf", "Do it", "--detach")
    old = int(tmux(fan, "list-panes", "-a", "-f", "#{@fan_member}", "-F", "#{pane_pid}"))
    tmux(fan, "kill-server")
    eventually(lambda: not sessions(fan), within=10)
    assert alive(old)
    done = fan.run("resume", "--json", cwd=repo)
    assert (done.code, len(done.json["members"])) == (0, 1), done.out
    assert f"(process {old}) and was ended" in done.json["notes"][0]
    assert not alive(old)
    assert len(sessions(fan)) == 1
    assert fan.run("rm", done.json["members"][0]["id"], cwd=repo).code == 0
