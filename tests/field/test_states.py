"""Field cases: what is said of an agent's state."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.support.cli import Fan
from tests.support.members import becomes, cycle, listed, now, recipe, sessions, start, stop_courier, stop_tmux
from tests.support.puppets import Puppets, Row
from tests.support.tmux import alive
from tests.support.wait import window

HOOKS = '[hooks]\nprompt = "prompt"\ngrace = 2.0\nstale = 1.0\n'


@pytest.mark.field("B037")
def test_b037_quoted_words_and_silent_work_mislead_nobody(fan: Fan, puppets: Puppets) -> None:
    """One whose answer quotes a hint and a trust question is at rest; one that works with only a timer moving works.
    A single `fan ls` with nothing else of `fan` running says the same as with the courier.

    Red when rules look at the whole screen.
    """
    repo = fan.repos.repo()
    quoting, silent = start(fan, repo, 2, "puppet:quote,puppet:silent", "Do it", env={"PUPPET_ARGS": ""})
    watched = becomes(fan, quoting, state="rest", turn="done"), becomes(fan, silent, state="working", turn="running")
    stop_courier(fan)
    alone = listed(fan, repo)
    seen = [(row["state"], row["kind"], row["turn"]) for row in (alone[quoting["id"]], alone[silent["id"]])]
    assert seen == [(row["state"], row["kind"], row["turn"]) for row in watched]
    assert seen == [("rest", "", "done"), ("working", "", "running")]


@pytest.mark.field("B038")
def test_b038_a_usage_limit_is_no_rest(fan: Fan, puppets: Puppets) -> None:
    """Both shapes of a limit are `limited` with the reset time; a message waits, nothing is typed into the menu, the
    third member goes on.

    Red when a limit counts as rest.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet:limit,puppet:limit-notice,puppet", "Do it")
    before = {}
    for row in rows[:2]:
        shown = becomes(fan, row, state="limited", turn="running", prompt_status="sent")
        assert shown["detail"] == "17:00"
        before[row["id"]] = puppets.raw(row)
    for row in rows:
        assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
    puppets.takes(rows[2], "Do it", "Then this")
    window(2)
    for row in rows[:2]:
        assert puppets.raw(row) == before[row["id"]]
        assert (now(fan, row)["state"], now(fan, row)["prompt_status"]) == ("limited", "pending")


@pytest.mark.field("B040")
def test_b040_without_a_locale_nothing_changes(fan: Fan, puppets: Puppets) -> None:
    """With no locale at all and Python's UTF-8 mode off, the whole cycle works with accents and symbols whole."""
    repo = fan.repos.repo()
    fan.repos.git(repo, "branch", "ветка/ü")
    for name in [name for name in fan.env if name == "LANG" or name.startswith("LC_")]:
        del fan.env[name]
    fan.env |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    rows = cycle(fan, puppets, repo, "--name", "привет", "--base", "ветка/ü")
    shown = becomes(fan, rows[0], state="rest", turn="done")
    assert (shown["branch"], shown["base"]) == ("привет", "ветка/ü")
    plain = fan.run("ls", cwd=repo)
    assert "привет" in plain.out
    assert "Traceback" not in plain.err


@pytest.mark.field("B042")
def test_b042_a_stopped_tmux_server_needs_no_repair(fan: Fan, puppets: Puppets) -> None:
    """After the server is gone `ls` says so, `send` refuses, `keep` works on the worktrees, and a new start runs.

    Red when a missing session passes for a state, or when removal needs one.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet", "--name", "topic", "Do it")
    stop_tmux(fan)
    shown = listed(fan, repo)
    assert [(row["gone"], row["state"], row["detail"]) for row in shown.values()] == [
        (True, "exited", "its session is gone")
    ] * 3
    sent = fan.run("send", rows[0]["id"], "--json", "Then this", cwd=repo)
    assert (sent.code, sent.json["error"]["code"]) == (1, "target_gone")
    assert fan.run("keep", rows[0]["id"], cwd=repo).code == 0
    assert fan.run("group", "rm", "topic", cwd=repo).code == 0
    again = start(fan, repo, 3, "puppet", "--name", "topic", "Do it")
    assert {row["prompt_status"] for row in again} == {"sent"}


@pytest.mark.field("B042")
def test_b042_an_agent_that_has_left_keeps_its_pane_and_code(fan: Fan, puppets: Puppets) -> None:
    """An agent that exits with 1 is `exited` with that code, its session stays, and it takes no message."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it", code=1, env={"PUPPET_ARGS": "--die 1:1"})
    shown = becomes(fan, row, state="exited", detail="its agent exited with code 1")
    assert shown["gone"] is False
    assert sessions(fan) == [row["session"]]
    assert fan.run("send", row["id"], "Then this", cwd=repo).code == 1
    assert fan.run("rm", row["id"], cwd=repo).code == 0
    assert sessions(fan) == []


@pytest.mark.field("B043")
def test_b043_hooks_that_stay_silent_or_come_from_elsewhere(fan: Fan, puppets: Puppets) -> None:
    """An agent without reports is read from its screen; a report without our variables, or by a process outside of
    the pane it names, changes nothing; no tracked file is changed.

    Red when `fan report` believes the variables alone.
    """
    repo = fan.repos.repo()
    reporting = ('["--notice"]', '["--notice", "--report"]')
    bare = ('["--paste"]', '["--paste", "--report-bare"]')
    recipe(puppets, "teller", reporting, bare, more=HOOKS)
    rows = start(fan, repo, 3, "teller,teller:paste,teller:notice", "Do it")
    silent, bare_one, normal = rows
    for row in rows:
        becomes(fan, row, state="rest", turn="done", prompt_status="sent")
    assert (silent["ready_by"], bare_one["ready_by"], normal["ready_by"]) == ("screen", "screen", "report")
    assert _reports(fan, silent) == _reports(fan, bare_one) == []
    assert [state for state, dropped in _reports(fan, normal) if not dropped] == ["rest", "working", "rest"]
    told = puppets.started(normal)["env"]
    stolen = {name: told[name] for name in ("FAN_MEMBER", "FAN_LAUNCH", "FAN_PANE", "FAN_GROUP")}
    assert fan.run("report", "working", cwd=Path(normal["path"]), env=stolen).code == 0
    assert now(fan, normal)["state"] == "rest"
    assert [bool(dropped) for _, dropped in _reports(fan, normal)] == [False] * 3 + [True]
    for folder in (repo, *(Path(row["path"]) for row in rows)):
        assert fan.repos.git(folder, "status", "--porcelain") == ""


def _reports(fan: Fan, row: Row) -> list[tuple[str, str]]:
    """Each report on record for a member: its state and why it was dropped."""
    with sqlite3.connect(f"file:{fan.state / 'fan.sqlite3'}?mode=ro", uri=True) as store:
        found = store.execute("SELECT state, dropped FROM reports WHERE member = ? ORDER BY seq", [row["id"]])
        return [(state, dropped) for state, dropped in found]


def test_the_courier_is_gone_once_it_is_stopped(fan: Fan, puppets: Puppets) -> None:
    """The helper of these tests does what it says: no courier is left, and a reader starts none."""
    repo = fan.repos.repo()
    start(fan, repo, 1, "puppet", "Do it")
    pid = stop_courier(fan)
    listed(fan, repo)
    assert not alive(pid)
    assert not [one for one in fan.processes() if "fan.courier" in one.cmdline()]
