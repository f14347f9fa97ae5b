"""A real agent under `--brief` and its default permissions: it mails and reads unattended, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.core.brief import BRIEF, allowed
from fan.core.model import State
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan
from tests.support.wait import eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

TASK = "Say hello."


def bash(command: str) -> str:
    """The directive that has the agent run a command line in its shell."""
    return f"%bash={command}%"


def briefed(fan: Fan, folder: Path, model: FakeModel, stage: Stage, agent: str) -> Live:
    """An agent whose repository is trusted, started with `--brief`; its first turn is over."""
    found = Live(fan, lab(agent, folder, model, stage))
    found.trust()
    words = ["1", "--agent", agent, "--name", "unattended", "--brief", "--detach", "--json", "--", TASK]
    begun = fan.run(*words, cwd=found.top, env=found.environ)
    assert begun.code == 0, begun.err
    recipe = found.world.catalogue.recipe(agent)
    assert allowed(recipe.title, recipe.allow) in begun.err
    found.id = begun.json["members"][0]["id"]
    found.sent(found.world.store.deliveries(found.id)[0])
    found.becomes(state="rest", turn="done")
    return found


@pytest.fixture
def live(fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage) -> Live:
    """The agent that asks before it runs anything."""
    return briefed(fan, short_folder, model_server, stage, "claude")


def runs(live: Live, command: str, *, within: float = 60.0) -> set[State]:
    """The states that it is seen in from the prompt to rest, while it runs a command line in its shell."""
    live.sent(live.send(bash(command)))
    return live.passes(State.REST, within=within)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_brief_reaches_the_model(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """Word for word, with the task behind it, as one prompt; and the person is told what the agent may run."""
    assert briefed(fan, short_folder, model_server, stage, agent).prompts() == [BRIEF + TASK]


def test_it_mails_and_reads_unattended(live: Live) -> None:
    """With its default permissions it mails the person with a file and reads what came for it, and no question comes
    up. The message is stamped by its process, another name is shown as a claim, the person's is refused.

    Red when its shell does not find `fan`, when `allow` does not fit what it runs, or when the sender is taken from
    what the agent says.
    """
    fan, top = live.fan, live.top
    Path(live.row().path, "result.txt").write_text("42\n")
    assert State.NEEDS_INPUT not in runs(live, "fan mail send human 'All done.' --attach result.txt")
    (message,) = fan.run("mail", "read", "human", "--json", cwd=top).json["messages"]
    assert (message["author"], message["verified"], message["claim"]) == ("unattended:1 (claude)", "process", "")
    assert Path(message["attachments"][0]["path"]).read_text() == "42\n"

    assert State.NEEDS_INPUT not in runs(live, "fan mail send human 'Believe me.' --from 'the boss'")
    assert State.NEEDS_INPUT not in runs(live, "fan mail send human 'It is me.' --from human")
    assert "may not do this (human)" in live.screen()
    shown = fan.run("mail", "read", "human", "--unread", cwd=top).out
    assert 'unattended:1 (claude) (verified: process, claims to be "the boss")' in shown
    assert "It is me." not in shown

    assert fan.run("mail", "send", live.id, "Thank you, that is all.", cwd=top).code == 0
    assert State.NEEDS_INPUT not in runs(live, "fan mail read --unread")
    eventually(lambda: fan.run("mail", "read", live.id, "--json", cwd=top).json["messages"][0]["receipts"]["read"])


def test_it_may_run_nothing_else(live: Live) -> None:
    """What is tied to an allowed command line is asked about, and has not run; a fan bomb is refused even when the
    person lets it run.

    Red when `allow` is wider than our own verbs, or when a member may fan out.
    """
    made = Path(live.row().path, "made.txt")
    for command in (
        "fan mail send human x; touch made.txt",
        "fan mail send human x && touch made.txt",
        "fan mail ls | tee made.txt",
        'fan mail send human "$(touch made.txt)"',
        "fan mail ls > made.txt",
        "fan keep unattended:1",
    ):
        live.sent(live.send(bash(command)))
        live.becomes(state="needs_input", kind="permission")
        assert not made.exists(), command
        live.press("Escape")
        live.becomes(state="rest")
    assert not made.exists()
    assert live.fan.run("mail", "read", "human", "--json", cwd=live.top).json["messages"] == []
    live.sent(live.send(bash("fan 2 --agent demo again > made.txt 2>&1")))
    live.becomes(state="needs_input", kind="permission")
    live.press("Enter")
    live.becomes(state="rest")
    assert "may not do this (fan)" in made.read_text()
    assert len(live.world.store.members()) == 1
