"""`fan ask` whose asker waits no more: what is answered later comes to them as mail."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from fan.core.model import Purpose, Status
from fan.world.world import World
from tests.support.asking import is_asked, questions, running, world_of
from tests.support.cli import Fan
from tests.support.members import becomes, error, recipe, start
from tests.support.puppets import Puppets, Row
from tests.support.wait import eventually

pytestmark = pytest.mark.timeout(180)
SLOW = "0.25"
"""A turn of the demo agent takes 1.5 s divided by this."""


@pytest.fixture
def repo(fan: Fan) -> Path:
    return fan.repos.repo()


@pytest.fixture
def slow(fan: Fan, repo: Path) -> Row:
    """A demo agent at rest that takes six seconds for each answer."""
    fan.env |= {"FAN_DEMO_HOME": str(fan.folder / "d"), "FAN_DEMO_SPEED": SLOW}
    made = fan.run("worktree", "new", "slow", "--agent", "demo", "--json", cwd=repo)
    assert made.code == 0, made.err
    return becomes(fan, made.json["member"], state="rest")


def thread(fan: Fan, where: Path, question: str) -> list[dict[str, Any]]:
    """Its messages; nothing is marked."""
    done = fan.run("mail", "read", "--thread", question, "--peek", "--json", cwd=where)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = done.json["messages"]
    return found


def is_settled(world: World) -> bool:
    """Whether no ask is left on record."""
    return world.store.asks() == []


@pytest.mark.parametrize("how", ["time", "SIGKILL", "SIGTERM"])
def test_a_late_answer_is_found_where_the_time_out_says(fan: Fan, repo: Path, slow: Row, how: str) -> None:
    """Its time is over, or its asker is ended, in the middle of the turn: once the agent has answered, the whole
    answer lies unread in the person's inbox, by the very command that was named; nothing is typed again.

    Red when the ask goes from the record with its asker, or when words of an unfinished turn pass for the answer.
    """
    with world_of(fan, repo) as world:
        if how == "time":
            done = fan.run("ask", slow["id"], "Is it so?", "--timeout", "4", "--json", cwd=repo)
            assert (done.code, error(done.out)["code"]) == (6, "timed_out")
            assert error(done.out)["not_done"].endswith("; a later answer comes to your inbox")
            (asked,) = world.store.asks()
            assert error(done.out)["hint"].endswith(f"fan mail read --thread {asked.id}")
        else:
            with running(fan, repo, "ask", slow["id"], "Is it so?") as asking:
                is_asked(world, slow)
                asking.process.send_signal(getattr(signal, how))
                asking.process.wait(10)
            (asked,) = world.store.asks()
        assert [one["kind"] for one in thread(fan, repo, asked.id)] == ["ask"]
        eventually(lambda: is_settled(world), within=30)
        question, answer = thread(fan, repo, asked.id)
        assert (question["receipts"]["answered"], question["closed"]) == (answer["receipts"]["stored"], "")
        assert (answer["kind"], answer["reply_to"], answer["to"]) == ("answer", asked.id, "script")
        assert answer["body"].startswith("Done: wrote demo/NOTES")
        assert answer["body"].endswith(".")
        assert fan.run("ls", "--waiting", cwd=repo).err.startswith("1 message waits for you: ")
        assert [(one.text, one.status) for one in questions(world, slow)] == [("Is it so?", Status.SENT)]
        assert [one.purpose for one in world.store.deliveries(slow["id"])] == [Purpose.ASK]
    fan.run("mail", "read", "--thread", asked.id, cwd=repo)
    assert fan.run("ls", "--waiting", cwd=repo).err == "nobody waits for you\n"
    again = fan.run("ask", slow["id"], "Is it so?", "--json", cwd=repo).json
    assert again["quality"] == "complete"


def test_an_agent_gets_a_late_answer_by_mail(fan: Fan, puppets: Puppets, repo: Path, slow: Row) -> None:
    """The member that has asked is told of it at its rest by one line, and finds it in its own inbox."""
    (asker,) = start(fan, repo, 1, "puppet", "--name", "fan/x", "Do it")
    becomes(fan, asker, state="rest", turn="done")
    late = puppets.runs(asker, "ask", slow["id"], "Is it so?", "--timeout", "4", "--json", within=40)
    assert (late.code, error(late.out)["code"]) == (6, "timed_out")
    assert "a later answer comes to your inbox" in error(late.out)["not_done"]
    told = "[fan] You have a new message from slow:1 (demo). Read with: fan mail read --unread"
    puppets.takes(asker, "Do it", told)
    (answer,) = puppets.runs(asker, "mail", "read", "--unread", "--json").json["messages"]
    assert answer["body"].startswith("Done: ")
    assert error(late.out)["hint"].endswith(f"fan mail read --thread {answer['thread']}")


def test_what_is_never_answered_is_closed(fan: Fan, repo: Path, slow: Row) -> None:
    """Its agent is killed in the middle of the turn: what it had said by then is not called an answer.

    Red when an unfinished turn's words are recorded, or when the ask stays on record for ever.
    """
    start(fan, repo, 1, "demo", "--name", "fan/x", "Do it")  # the courier goes on
    done = fan.run("ask", slow["id"], "Is it so?", "--timeout", "4", "--json", cwd=repo)
    assert done.code == 6, done.out
    with world_of(fan, repo) as world:
        (asked,) = world.store.asks()
        psutil.Process(world.store.member(slow["id"]).pid).kill()
        eventually(lambda: is_settled(world), within=20)
    (question,) = thread(fan, repo, asked.id)
    assert question["receipts"]["answered"] is None
    assert question["closed"] == "without an answer on record"


def test_an_agent_that_writes_nothing_down(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Where there is no transcript, a later answer is in the pane alone: the time-out says so, and nothing that the
    pane has printed passes for an answer."""
    recipe(puppets, "puppet", ('["--busy", "60"]', '["--busy", "6"]'))
    made = fan.run("worktree", "new", "mute", "--agent", "puppet:busy", "--json", cwd=repo).json["member"]
    row = becomes(fan, made, state="rest")
    done = fan.run("ask", row["id"], "Is it so?", "--timeout", "3", "--json", cwd=repo)
    assert done.code == 6
    assert error(done.out)["not_done"].endswith("; a later answer stands in its pane alone")
    assert error(done.out)["hint"].endswith(f"fan attach {row['id']}")
    with world_of(fan, repo) as world:
        (asked,) = world.store.asks()
        eventually(lambda: is_settled(world), within=30)
    assert [one["closed"] for one in thread(fan, repo, asked.id)] == ["without an answer on record"]
