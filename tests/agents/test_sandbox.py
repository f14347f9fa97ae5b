"""A real agent in its default sandbox, which can neither open the store nor a socket: mail by the request folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan, at_home

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]


@pytest.fixture
def outside() -> Iterator[Fan]:
    """`fan` where that sandbox may not write: all of /tmp it may."""
    with at_home("fan-s-", "/var/tmp") as made:
        yield made


def run(live: Live, command: str) -> None:
    """Have the model call the agent's shell tool."""
    live.sent(live.send(f"%bash={command}%"))
    live.becomes(turn="done", state="rest", within=60)


def test_a_sandboxed_agent_sends_and_reads_mail_by_its_folder(
    outside: Fan, short_folder: Path, model_server: FakeModel, stage: Stage
) -> None:
    """Unattended and in its default sandbox its message arrives whole, stamped `folder`, and it reads the reply.

    What it claims to be is shown as a claim, and the name `human` is refused. Goes red when its recipe opens no
    folder for it, when the courier answers no requests, or when the stamp comes from what a request says.
    """
    real = lab("codex", short_folder, model_server, stage)
    outside.env["FAN_WAKE"] = "0"
    live = Live(outside, real)
    live.trust()
    sandboxed = 'touch "$FAN_STATE_DIR/mark"; echo hello > r.txt; '
    (first,) = live.start(f"%bash={sandboxed}fan mail send human 'It is done.' --attach r.txt > out.txt 2>&1%")
    live.sent(first)
    live.becomes(turn="done", state="rest", within=60)
    tree = live.world.store.member(live.id).path
    assert not (outside.state / "mark").exists(), "this agent sits in no sandbox"
    (message,) = outside.run("mail", "read", "human", "--json").json["messages"]
    told = (message["body"], message["verified"], message["claim"])
    assert told == ("It is done.", "folder", ""), (tree / "out.txt").read_text()
    assert message["author"].startswith("fan/hostile:1") or message["author"].startswith("hostile:1")
    (file,) = message["attachments"]
    assert (Path(file["path"]).read_text(), file["missing"]) == ("hello\n", False)
    assert Path(file["path"]).is_relative_to(outside.state / "stash")

    assert outside.run("mail", "reply", message["id"], "Well done.").code == 0
    run(live, "fan mail read > read.txt 2>&1; fan stash put /etc/hostname > stash.txt 2>&1; ls / > /dev/null")
    assert "Well done." in (tree / "read.txt").read_text()
    assert "does not lie in" in (tree / "stash.txt").read_text()

    run(live, "fan mail send human 'I rule' --from human > a.txt 2>&1; fan mail send human 'I am two' --from two")
    assert "may not do this" in (tree / "a.txt").read_text()
    found = outside.run("mail", "read", "human", "--json").json["messages"]
    assert [(one["body"], one["verified"], one["claim"]) for one in found[1:]] == [("I am two", "folder", "two")]
    assert found[1]["author"] == message["author"]
