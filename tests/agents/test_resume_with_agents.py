"""`fan resume` with the real programs: a killed tmux server costs neither conversation nor prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan
from tests.support.members import stop_tmux
from tests.support.wait import eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]


def _resumed(live: Live) -> None:
    done = live.fan.run("resume", "--json", cwd=live.top, env=live.environ)
    assert (done.code, len(done.json["members"])) == (0, 1), done.out + done.err


def test_claude_goes_on_with_its_conversation(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage
) -> None:
    """After its server was killed it is back with what was said before on its screen, at rest, and takes the next
    prompt once; the first one is not asked again.

    Red when it is started without its conversation.
    """
    live = Live(fan, lab("claude", short_folder, model_server, stage))
    live.trust()
    (first,) = live.start("Remember the word heliotrope.")
    live.sent(first)
    live.becomes(state="rest", turn="done")
    stop_tmux(fan)
    assert live.row().gone
    _resumed(live)
    assert live.world.store.member(live.id).conversation
    live.becomes(state="rest", gone=False, within=40)
    assert "heliotrope" in live.screen()
    second = live.send("And another one.")
    live.sent(second)
    live.asked(second.text)
    assert live.prompts() == [first.text, second.text]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_prompt_that_waits_for_trust_is_sent_after_it(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """The server is killed while the trust question is open; resumed, the agent asks again, nothing is typed, and
    after the answer the prompt reaches the model once.

    Red when an agent is asked to resume a conversation in which nothing was said, for then it does not start.
    """
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    (first,) = live.start("Say hello to the folder.")
    live.becomes(state="needs_input", kind="trust", within=40)
    stop_tmux(fan)
    _resumed(live)
    live.becomes(state="needs_input", kind="trust", within=40)
    live.holds_back(first, still=True)
    live.press("Enter")
    live.sent(first)
    eventually(lambda: live.prompts() == [first.text], within=20)
