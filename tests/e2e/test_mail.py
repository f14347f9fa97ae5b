"""Mail as agents and the person use it: the whole command, run below a real pane and outside of one."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from fan.core.model import Status
from fan.world.store.records import Store
from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, listed, press, start, stop_tmux, write
from tests.support.puppets import Puppets, Row
from tests.support.wait import eventually

LINE = "[fan] You have"


@pytest.fixture
def pair(fan: Fan, puppets: Puppets) -> tuple[Path, Row, Row]:
    """A repository with a group of two puppets at rest that have done their first task."""
    repo = fan.repos.repo()
    one, two = start(fan, repo, 2, "puppet", "Do it")
    for row in (one, two):
        becomes(fan, row, state="rest", turn="done")
    return repo, one, two


def told(puppets: Puppets, row: Row) -> list[str]:
    """The lines about mail that this agent was typed."""
    return [text.decode() for text in puppets.submitted(row) if text.startswith(LINE.encode())]


def test_agents_and_the_person_write_to_each_other(fan: Fan, puppets: Puppets, pair: tuple[Path, Row, Row]) -> None:
    """A member's message to the person is stamped by its process; the reply reaches its inbox, in the same thread,
    and wakes it once; receipts tell each step. What the member claims to be is shown as a claim.

    Red when the sender is taken from the command line or the environment alone.
    """
    repo, one, two = pair
    sent = puppets.runs(one, "mail", "send", "human", "The fix is in retry.py.", "--subject", "Result", "--json")
    assert sent.code == 0, sent.err
    (message,) = fan.run("mail", "read", "--json", cwd=repo).json["messages"]
    assert (message["verified"], message["to"], message["untrusted"]) == ("process", "human", True)
    assert message["author"].startswith("fan/do:1 (puppet")
    replied = fan.run("mail", "reply", message["id"], "Good. Go on.", cwd=repo)
    assert replied.code == 0, replied.err
    eventually(lambda: told(puppets, one), within=15)
    (answer,) = puppets.runs(one, "mail", "read", "--unread", "--json").json["messages"]
    assert (answer["thread"], answer["subject"], answer["body"]) == (message["id"], "Result", "Good. Go on.")
    assert answer["author"] == "script"
    assert answer["receipts"]["woken"] is not None
    claimed = puppets.runs(two, "mail", "send", one["id"], "Hear me", "--from", "the boss")
    assert claimed.code == 0, claimed.err
    shown = puppets.runs(one, "mail", "read", "--unread").out
    assert 'fan/do:2 (puppet) (verified: process, claims to be "the boss")' in shown
    assert puppets.runs(one, "mail", "read", "--unread").out == "no mail\n"
    again = fan.run("mail", "read", one["id"], "--json", cwd=repo).json["messages"]
    assert all(each["receipts"]["read"] for each in again)
    threads = fan.run("mail", "ls", "--json", cwd=repo).json
    assert {(thread["thread"], thread["messages"]) for thread in threads} >= {(message["id"], 2)}


def test_a_claim_reads_an_inbox_and_takes_nothing_from_it(
    fan: Fan, puppets: Puppets, pair: tuple[Path, Row, Row]
) -> None:
    """Whoever has a member's variables and not its process (a person in a split of its session, another agent) may
    look, and is told that nothing was marked; the agent's own mail stays new.

    Red when the variable makes its bearer the owner of the inbox.
    """
    repo, one, two = pair
    assert fan.run("mail", "send", one["id"], "for you alone", cwd=repo).code == 0
    split = {"FAN_LAUNCH": puppets.started(one)["env"]["FAN_LAUNCH"]}
    looked = fan.run("mail", "read", "--unread", cwd=repo, env=split)
    assert "for you alone" in looked.out
    assert "nothing was marked as read" in looked.out
    as_json = fan.run("mail", "read", "--unread", "--json", cwd=repo, env=split).json
    assert (as_json["peek"], len(as_json["messages"])) == (True, 1)
    kept = fan.run("keep", two["id"], "--json", cwd=repo, env=split)
    assert (kept.code, kept.json["error"]["code"]) == (1, "not_allowed")
    assert "outside of fan's sessions" in kept.json["error"]["message"]
    (mine,) = puppets.runs(one, "mail", "read", "--unread", "--json").json["messages"]
    assert (mine["body"], mine["receipts"]["read"]) == ("for you alone", None)


def test_what_a_member_may_not_do(fan: Fan, puppets: Puppets, pair: tuple[Path, Row, Row]) -> None:
    """No fan bomb, no keeping, removing, undoing or approving from inside, no name of the person's; nothing was done.
    A setting of the person's opens one of them. Red where a verb does not ask who calls."""
    repo, one, _ = pair
    for words in (
        ("2", "--agent", "puppet", "again"),
        ("keep", one["id"]),
        ("rm", one["id"]),
        ("group", "rm", "fan/do"),
        ("undo",),
        ("archive", "rm", "x"),
        ("config", "approve"),
        ("worktree", "new", "other", "--agent", "puppet"),
        ("mail", "send", "human", "x", "--from", "human"),
    ):
        refused = puppets.runs(one, *words, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (1, "not_allowed"), words
        assert "fan mail send human" in refused.json["error"]["hint"]
    assert len(listed(fan, repo)) == 2
    (fan.config / "config.toml").write_text('agents_may = "fan"\n')
    made = puppets.runs(one, "1", "--agent", "puppet", "Go on", "--json")
    assert made.code == 0, made.err
    (row,) = made.json["members"]
    whose = "[fan: from fan/do:1 (puppet), another agent (verified: process), not your operator]"
    puppets.takes(row, f"{whose}\nGo on")
    assert puppets.runs(one, "keep", row["id"]).code == 1


@pytest.mark.field("B061")
def test_mail_wakes_at_rest_and_never_in_a_turn(fan: Fan, puppets: Puppets) -> None:
    """B061: no key during the turn; then one line for those that were not read by itself meanwhile."""
    repo = fan.repos.repo()
    (one,) = start(fan, repo, 1, "puppet", "Work long", env={"PUPPET_ARGS": "--busy 6"})
    becomes(fan, one, state="working", prompt_status="sent")
    raw = puppets.raw(one)
    for text in ("first", "second", "third"):
        assert fan.run("mail", "send", one["id"], text, cwd=repo).code == 0
    read = puppets.runs(one, "mail", "read", "--limit", "1", "--json").json["messages"]
    assert [message["body"] for message in read] == ["first"]
    assert puppets.raw(one) == raw
    becomes(fan, one, state="working", prompt_status="sent")
    eventually(lambda: told(puppets, one), within=20)
    assert told(puppets, one) == ["[fan] You have 2 new messages from script. Read with: fan mail read --unread"]


def test_a_line_whose_mail_was_read_meanwhile_is_not_typed(fan: Fan, puppets: Puppets) -> None:
    """Held up by a person's draft, it is given up once the agent has read by itself; the draft stays as it was.

    Red when a queued line is typed whatever has happened since.
    """
    repo = fan.repos.repo()
    (one,) = start(fan, repo, 1, "puppet", "Do it")
    becomes(fan, one, state="rest", turn="done")
    write(fan, one, "rename the")
    store = Store(fan.state)
    fan.run("mail", "send", one["id"], "first", cwd=repo)
    eventually(lambda: "draft" in store.last_wakes()[one["id"]].note, within=45)
    assert puppets.runs(one, "mail", "read").code == 0
    eventually(lambda: store.last_wakes()[one["id"]].status is Status.NOT_SENT, within=10)
    press(fan, one, "C-u")
    fan.run("send", one["id"], "the next prompt", cwd=repo)
    puppets.takes(one, "Do it", "the next prompt")


def test_the_setting_turns_waking_off(fan: Fan, puppets: Puppets) -> None:
    """With `wake = false` mail lies there; a prompt that is sent after it is typed all the same."""
    repo = fan.repos.repo()
    fan.env["FAN_WAKE"] = "false"
    (one,) = start(fan, repo, 1, "puppet", "Do more")
    becomes(fan, one, state="rest", turn="done")
    fan.run("mail", "send", one["id"], "quiet", cwd=repo)
    fan.run("send", one["id"], "the next prompt", cwd=repo)
    puppets.takes(one, "Do more", "the next prompt")
    assert fan.run("mail", "read", one["id"], "--json", cwd=repo).json["messages"][0]["receipts"]["woken"] is None


@pytest.mark.field("B060")
def test_b060_four_different_answers(fan: Fan, puppets: Puppets, pair: tuple[Path, Row, Row]) -> None:
    """To nobody: near names; to a removed one and to one whose agent is gone: undeliverable, each with its reason and
    next command; to a living one: stored. No inbox is made by a typo, threads tell the same."""
    repo, one, two = pair
    fan.run("mail", "send", two["id"], "you will not read this", cwd=repo)
    unknown = fan.run("mail", "send", "fan/dooo", "x", "--json", cwd=repo)
    assert (unknown.code, unknown.json["error"]["code"]) == (1, "not_found")
    assert "did you mean fan/do" in unknown.json["error"]["message"]
    os.kill(puppets.started(two)["pid"], signal.SIGKILL)
    becomes(fan, two, state="exited")
    dead = fan.run("mail", "send", two["id"], "x", "--json", cwd=repo)
    assert (dead.code, dead.json["error"]["code"]) == (1, "undeliverable")
    assert "exited" in dead.json["error"]["message"]
    assert "fan resume" in dead.json["error"]["hint"]
    (lost,) = fan.run("mail", "read", two["id"], "--json", cwd=repo).json["messages"]
    assert "exited" in lost["undeliverable"]
    fan.run("rm", two["id"], cwd=repo)
    removed = fan.run("mail", "send", two["id"], "x", "--json", cwd=repo)
    assert (removed.code, removed.json["error"]["code"]) == (1, "undeliverable")
    assert "removed" in removed.json["error"]["message"]
    assert fan.run("mail", "send", one["id"], "x", cwd=repo).code == 0
    assert len(fan.run("mail", "ls", "--json", cwd=repo).json) == 2


@pytest.mark.field("B058")
def test_b058_a_reader_that_dies_loses_nothing(fan: Fan) -> None:
    """Ten long messages, read through a pipe that closes after the first line, by a reader killed half-way, then
    whole: none is lost, only what was written out whole is no longer new.

    Red when they are marked as read before they are printed, or while they still lie in the pipe.
    """
    texts = [f"{number} " + ("long words " * 700).strip() for number in range(10)]
    for text in texts:
        fan.run("mail", "send", "human", "-", stdin=text)
    seen: set[str] = set()
    unread: set[str] = set()
    for many in (1, 9_000, 20_000):
        reader = subprocess.Popen(
            [*PROGRAM, "mail", "read"], cwd=fan.repos.home, env=fan.env, stdout=subprocess.PIPE, bufsize=0
        )
        assert reader.stdout is not None
        data = b""
        while len(data) < many:
            data += reader.stdout.read(1)
        if many == 9_000:
            reader.kill()
        reader.stdout.close()
        reader.wait()
        seen |= {text for text in texts if f"\n{text}\n--- end".encode() in data}
        unread = {one["body"] for one in fan.run("mail", "read", "--peek", "--unread", "--json").json["messages"]}
        assert set(texts) - unread <= seen
    assert len(unread) < 10
    rest = fan.run("mail", "read", "--unread", "--json").json["messages"]
    assert {one["body"] for one in rest} == unread
    assert fan.run("mail", "read", "--unread").out == "no mail\n"
    assert len(fan.run("mail", "read", "--json").json["messages"]) == 10


def test_the_address_is_one_incarnation(fan: Fan) -> None:
    """Mail that waited for a killed agent is undeliverable while it is gone, lies there again once a resume goes on
    with the same conversation, and is not read by one that begins anew: that one's inbox is empty.

    Red when the inbox belongs to the member's name.
    """
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d"), "FAN_WAKE": "false"}
    repo = fan.repos.repo()
    (one,) = start(fan, repo, 1, "demo", "--wait", "Do it")
    becomes(fan, one, state="rest", turn="done")
    thread = fan.run("mail", "send", one["id"], "for you alone", "--json", cwd=repo).json["sent"][0]["thread"]
    for words, fate, waiting in (((), "", 1), (("--fresh",), "started anew", 0)):
        stop_tmux(fan)
        (gone,) = fan.run("mail", "read", "--thread", thread, "--json", cwd=repo).json["messages"]
        assert "exited" in gone["undeliverable"]
        assert fan.run("mail", "send", one["id"], "x", cwd=repo).code == 1
        assert fan.run("resume", *words, cwd=repo).code == 0
        becomes(fan, one, state="rest", gone=False)
        (message,) = fan.run("mail", "read", "--thread", thread, "--json", cwd=repo).json["messages"]
        assert fate in message["undeliverable"]
        assert bool(fate) == bool(message["undeliverable"])
        assert len(fan.run("mail", "read", one["id"], "--json", cwd=repo).json["messages"]) == waiting
    assert fan.run("mail", "send", one["id"], "welcome", cwd=repo).code == 0
