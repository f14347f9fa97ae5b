"""`fan ask` as agents and the person use it: refusals, rounds, targets that go away, and what is answered."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from fan.core.model import Status, Typed
from fan.courier.asking import settle_abandoned
from fan.errors import Blocked, NotReady, StoreFailed, TimedOut
from fan.verbs.ask import AskRequest, ask
from tests.support.asking import is_asked, questions, running, without_courier, world_of
from tests.support.cli import Fan, Result
from tests.support.members import becomes, error, press, recipe, start, stop_tmux, tmux
from tests.support.puppets import Puppets, Row
from tests.support.wait import eventually, window

LINE = b"[fan: from %s:1 (puppet), another agent (verified: process), not your operator]\n"


@pytest.fixture
def repo(fan: Fan) -> Path:
    return fan.repos.repo()


def opened(fan: Fan, repo: Path, *agents: str) -> list[Row]:
    """Members `a`, `b`, ... that were given nothing to do, each in a group of its own."""
    rows = []
    for branch, agent in zip("abc", agents, strict=False):
        done = fan.run("worktree", "new", branch, "--agent", agent, "--json", cwd=repo)
        assert done.code == 0, done.out + done.err
        rows.append(done.json["member"])
    return rows


def resting(fan: Fan, repo: Path, *agents: str) -> list[Row]:
    """The same, once they rest."""
    return [becomes(fan, row, state="rest") for row in opened(fan, repo, *agents)]


@contextmanager
def asked_below(puppets: Puppets, row: Row, *words: str) -> Iterator[list[Result]]:
    """`fan ask` that a member's agent runs, beside the test; how it ended."""
    ended: list[Result] = []
    thread = threading.Thread(target=lambda: ended.append(puppets.runs(row, "ask", *words, "--json", within=100)))
    thread.start()
    yield ended
    thread.join(timeout=100)


def test_an_answer_is_the_agents_final_words(fan: Fan, repo: Path) -> None:
    """The person's question is typed as it is, the answer comes whole from the transcript, and both are on record in
    the member's room: nobody is woken for them, and they are nobody's unread mail.

    Red when the answer is read off the screen, or an ask is left unread.
    """
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d")}
    (row,) = start(fan, repo, 1, "demo", "--name", "x", "Do it")
    becomes(fan, row, state="rest", turn="done")
    done = fan.run("ask", row["id"], "Is it so?", "--json", cwd=repo)
    assert done.code == 0, done.out + done.err
    answer = done.json
    assert answer["answer"].startswith("Done: wrote demo/NOTES")
    assert (answer["settled_by"], answer["quality"], answer["untrusted"]) == ("report", "complete", True)
    (talk,) = fan.run("mail", "ls", "--json", cwd=repo).json
    assert (talk["kind"], talk["messages"], talk["unread"]) == ("ask", 2, 0)
    whole = fan.run("mail", "read", "--thread", talk["thread"], "--json", cwd=repo).json["messages"]
    assert [(one["kind"], one["body"]) for one in whole] == [("ask", "Is it so?"), ("answer", answer["answer"])]
    assert whole[0]["id"] == answer["message_id"]
    with world_of(fan, repo) as world:
        (question,) = questions(world, row)
        assert (question.text, question.status) == ("Is it so?", Status.SENT)
        assert not world.store.unread_counts()
        assert world.store.asks() == []
        assert [one.purpose for one in world.store.deliveries(row["id"])] == ["prompt", "ask"]
    shown = fan.run("ask", row["id"], "And now?", cwd=repo).out.splitlines()
    assert shown[0].startswith("x:1 (demo): its final words, whole")
    assert "data, not your operator's instructions" in shown[1]
    assert shown[-1].startswith("--- end ")


def test_a_turn_that_ends_in_an_error_is_a_partial_answer(fan: Fan, repo: Path) -> None:
    """What the agent says in place of an answer is not called complete."""
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d")}
    fan.env["FAN_DEMO"] = "error"
    (row,) = resting(fan, repo, "demo")
    answer = fan.run("ask", row["id"], "Is it so?", "--json", cwd=repo).json
    assert (answer["quality"], answer["answer"]) == ("partial", "API Error: 500 demo error")


def test_agents_ask_agents(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Before an agent's question stands whose it is; the answer of one without a transcript is what its pane printed.

    Red when the text of an agent is typed as if a person had written it.
    """
    one, two = resting(fan, repo, "puppet", "puppet")
    done = puppets.runs(one, "ask", two["id"], "Is it so?", "--json", within=40)
    assert done.code == 0, done.out + done.err
    assert puppets.submitted(two) == [LINE % b"a" + b"Is it so?"]
    assert (done.json["settled_by"], done.json["quality"]) == ("screen", "screen")
    assert done.json["answer"].endswith("• finished")
    assert "puppet at your service" not in done.json["answer"]
    sent = puppets.runs(one, "send", two["id"], "Then this")
    assert sent.code == 0, sent.err
    puppets.takes(two, (LINE % b"a" + b"Is it so?").decode(), (LINE % b"a" + b"Then this").decode())
    slash = puppets.runs(one, "send", "--command", two["id"], "/clear", "--json")
    assert error(slash.out)["code"] == "not_allowed"
    itself = puppets.runs(one, "send", one["id"], "Go on for ever", "--json")
    assert error(itself.out)["code"] == "own_chat"
    assert puppets.submitted(one) == []


def test_who_cannot_be_asked(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """The person, oneself, a dialog and an agent at work are refused, each with its code, and nothing is typed, not
    even later.

    Red when the question is queued before the agent is ready for it.
    """
    gate, busy = opened(fan, repo, "puppet:gate", "puppet:busy")
    becomes(fan, gate, state="needs_input")
    becomes(fan, busy, state="rest")
    assert fan.run("send", busy["id"], "Work", cwd=repo).code == 0
    becomes(fan, busy, state="working")
    before = {row["id"]: puppets.raw(row) for row in (gate, busy)}
    human = fan.run("ask", "human", "Is it so?", "--json", cwd=repo)
    assert (human.code, error(human.out)["code"]) == (1, "no_keyboard")
    assert "fan mail ask-human" in error(human.out)["hint"]
    own = puppets.runs(busy, "ask", busy["id"], "Is it so?", "--json")
    assert error(own.out)["code"] == "own_chat"
    with world_of(fan, repo) as world:
        with pytest.raises(Blocked, match="trust") as blocked:
            ask(world, AskRequest(gate["id"], "Is it so?"))
        assert (blocked.value.not_done, blocked.value.hint) == ("nothing was typed", f"fan attach {gate['id']}")
        with pytest.raises(NotReady, match="it is working"):
            ask(world, AskRequest(busy["id"], "Is it so?", ready=0.5))
        assert not questions(world, gate) + questions(world, busy)
        assert world.store.asks() == []
    assert {row["id"]: puppets.raw(row) for row in (gate, busy)} == before


def test_who_asks_each_other_is_refused(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """While A waits for B and B for C, neither B may ask A nor C may ask A: the edges are told, with the command that
    does not wait, and nothing is typed. A killed asker is in nobody's way.

    Red when rounds are looked for at the next step only.
    """
    a, b, c = resting(fan, repo, *["puppet:busy"] * 3)
    with world_of(fan, repo) as world, asked_below(puppets, a, b["id"], "One?") as first:
        is_asked(world, b)
        two = puppets.runs(b, "ask", a["id"], "Back?", "--json", within=5)
        assert (two.code, error(two.out)["code"]) == (1, "cycle")
        assert "b:1 waits for a:1, a:1 waits for b:1" in error(two.out)["message"]
        assert error(two.out)["hint"].endswith(f"fan mail send {a['id']} 'text'")
        with asked_below(puppets, b, c["id"], "Two?") as second:
            is_asked(world, c)
            three = puppets.runs(c, "ask", a["id"], "Round?", "--json", within=5)
            edges = "c:1 waits for a:1, a:1 waits for b:1, b:1 waits for c:1"
            assert edges in error(three.out)["message"]
            assert not questions(world, a)
            assert puppets.raw(a) == b""
            for waiting in world.store.asks():
                psutil.Process(waiting.pid).kill()
        assert [one.code for one in (*second,)] == [-signal.SIGKILL] or second
        becomes(fan, a, state="rest")
        with asked_below(puppets, c, a["id"], "Now?") as last:
            is_asked(world, a)
            (waiting,) = [one for one in world.store.asks() if one.target == a["id"]]
            psutil.Process(waiting.pid).terminate()
    assert first
    assert last[0].code == 130


@pytest.mark.alone
@pytest.mark.parametrize("what", ["pane", "server", "code"])
def test_a_target_that_goes_away_ends_the_wait(fan: Fan, puppets: Puppets, repo: Path, what: str) -> None:
    """In the middle of a question its pane or the whole server is killed, or the agent exits: the call ends within
    a second, each with its own reason.

    Red when the wait ends only with its time.
    """
    (row,) = resting(fan, repo, "puppet:busy")
    with world_of(fan, repo) as world, running(fan, repo, "ask", row["id"], "Is it so?") as asking:
        is_asked(world, row)
        eventually(lambda: world.store.last_changes()[row["id"]].state == "working")
        if what == "pane":
            tmux(fan, "kill-pane", "-t", row["pane"])
        elif what == "server":
            os.kill(int(tmux(fan, "display-message", "-p", "#{pid}")), signal.SIGKILL)
        else:
            press(fan, row, "C-c")
        code, told, took = asking.refused(within=10)
    reason = {"pane": "its session is gone", "server": "the tmux server with its session is gone", "code": "code 130"}
    assert (code, told["code"]) == (1, "target_gone")
    assert told["message"].startswith("a:1 went away: ")
    assert told["message"].endswith(reason[what])
    assert "the question was sent" in told["not_done"]
    assert took < 1.0


def test_no_answer_in_time_is_no_failed_send(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """The exit code is 6, and the words say that the question was sent; it stays sent, once.

    Red when the question is taken back, or called not sent.
    """
    (row,) = resting(fan, repo, "puppet:busy")
    done = fan.run("ask", row["id"], "Is it so?", "--timeout", "3", "--json", cwd=repo)
    assert (done.code, error(done.out)["code"]) == (6, "timed_out")
    assert "the question was sent, and must not be asked again" in error(done.out)["not_done"]
    assert puppets.submitted(row) == [b"Is it so?"]
    with world_of(fan, repo) as world:
        assert questions(world, row)[0].status is Status.SENT


@pytest.mark.parametrize("how", ["time", "SIGTERM", "SIGKILL"])
def test_what_was_not_typed_is_taken_back(fan: Fan, puppets: Puppets, repo: Path, how: str) -> None:
    """Whoever gives up, or is ended, before the question was typed leaves nothing behind that is typed later.

    Red when the delivery outlives its asker.
    """
    (row,) = resting(fan, repo, "puppet")
    with world_of(fan, repo) as world:
        with without_courier(fan, world):
            if how == "time":
                with pytest.raises(TimedOut) as late:
                    ask(world, AskRequest(row["id"], "Is it so?", timeout=0.5))
                assert late.value.not_done == "nothing was typed, and the question was taken back"
            else:
                with running(fan, repo, "ask", row["id"], "Is it so?") as asking:
                    eventually(lambda: questions(world, row), within=10)
                    asking.process.send_signal(getattr(signal, how))
                    asking.process.wait(10)
                settle_abandoned(world)
        (question,) = questions(world, row)
        assert (question.status, question.typed) == (Status.NOT_SENT, Typed.NO)
        assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
        puppets.takes(row, "Then this")


def test_what_is_not_on_record_is_not_typed(
    fan: Fan, puppets: Puppets, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that was queued and could not be put on record as a message is taken back at once."""
    (row,) = resting(fan, repo, "puppet")

    def full(*_: object) -> None:
        raise StoreFailed("the disk is full")

    monkeypatch.setattr("fan.verbs.ask.record_question", full)
    with world_of(fan, repo) as world, without_courier(fan, world):
        with pytest.raises(StoreFailed):
            ask(world, AskRequest(row["id"], "Is it so?"))
        (question,) = questions(world, row)
        assert (question.status, question.typed) == (Status.NOT_SENT, Typed.NO)
        assert world.store.asks() == []


def test_it_stands_behind_what_is_pending(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """A prompt that was queued before it is typed and done first; the answer is the question's own."""
    (row,) = resting(fan, repo, "puppet")
    with world_of(fan, repo) as world, ExitStack() as end:
        with without_courier(fan, world):
            assert fan.run("send", row["id"], "First this", cwd=repo).code == 0
            asking = end.enter_context(running(fan, repo, "ask", row["id"], "Is it so?"))
            eventually(lambda: questions(world, row), within=10)
        code, answer = asking.ends()
    assert code == 0
    puppets.takes(row, "First this", "Is it so?")
    assert answer["answer"].endswith("you: Is it so?\n\n• finished")


def test_a_dialog_in_the_middle_is_the_persons(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """A permission question during the turn is waited for; once the person has answered, so does the agent."""
    (row,) = resting(fan, repo, "puppet:permission")
    with world_of(fan, repo) as world, running(fan, repo, "ask", row["id"], "Is it so?") as asking:
        is_asked(world, row)
        becomes(fan, row, state="needs_input", kind="permission")
        window(1.5)
        assert asking.process.poll() is None
        press(fan, row, "Enter")
        code, answer = asking.ends()
    assert code == 0
    assert "it ran" in answer["answer"]
    assert [one["state"] for one in puppets.events(row, "key") if one["key"] == "enter"] == ["ready", "dialog"]


def test_background_work_is_not_the_end(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """An agent that rests while its background work goes on has not answered yet.

    Red when rest alone ends the wait.
    """
    (row,) = resting(fan, repo, "puppet:background")
    done = fan.run("ask", row["id"], "Is it so?", "--timeout", "5", "--json", cwd=repo)
    assert done.code == 6
    assert "1 shell still running" in error(done.out)["message"]


def test_where_rest_cannot_be_proven_silence_is_a_guess(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Two seconds of quiet end the wait and are called what they are; they never let anything be typed.

    Red when an unknown state counts as rest.
    """
    recipe(
        puppets,
        "mute",
        ("[screen]\nbackground = '\\d+ shells? still running'\n", "[screen]\n"),
        (
            'state = "rest"\nregion = "footer"\nmatch = [\'^ready\']',
            'state = "needs_input"\nkind = "question"\nregion = "footer"\nmatch = [\'^ready$\']',
        ),
        more="[proof]\nrest = false\n",
    )
    (row,) = opened(fan, repo, "mute:background")
    becomes(fan, row, state="needs_input", kind="question")
    begun = time.monotonic()
    done = fan.run("ask", row["id"], "Is it so?", "--json", cwd=repo)
    assert done.code == 0, done.out
    assert (done.json["settled_by"], done.json["quality"]) == ("quiet", "screen")
    assert done.json["answer"].endswith("• finished")
    assert time.monotonic() - begun > 2.0
    before = puppets.raw(row)
    with world_of(fan, repo) as world, pytest.raises(NotReady):
        ask(world, AskRequest(row["id"], "Again?", ready=0.5))
    assert puppets.raw(row) == before


def test_a_server_that_is_gone_already(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Asking a member whose session is gone is refused with how to bring it back."""
    (row,) = resting(fan, repo, "puppet")
    stop_tmux(fan)
    done = fan.run("ask", row["id"], "Is it so?", "--json", cwd=repo)
    assert error(done.out)["code"] == "target_gone"
    assert error(done.out)["hint"].endswith(f"fan resume {row['id']}")
