"""`fan ask` with the real programs: their own final words, from their own transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.verbs.ask import AskRequest, ask
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan
from tests.support.members import stop_tmux

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]
WITNESS = {"claude": "report", "codex": "signal"}


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_answer_is_whole(fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str) -> None:
    """After the use of a tool the last words are the answer, not those before it; the one before is not repeated.

    Red when the recipe takes any words behind the prompt, or the screen is read.
    """
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    (first,) = live.start("Say hello.")
    live.sent(first)
    live.becomes(state="rest", turn="done", within=60)
    answer = ask(live.world, AskRequest(live.id, "Is it so? %say=It is ─ so; \\n *really*.%"))
    assert (answer.quality, answer.settled_by) == ("complete", WITNESS[agent])
    assert answer.answer.startswith("It is ─ so;")
    answer = ask(live.world, AskRequest(live.id, "Look it up. %bash=ls%"))
    assert (answer.quality, answer.answer) == ("complete", "The tool call is finished. TURN-DONE")


def test_codex_goes_on_with_its_conversation(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage
) -> None:
    """Its transcript tells the conversation that no hook tells: after its server was killed, what was said before is
    on its screen, and the next question's answer is found in the same file.

    Red when it is started without its conversation.
    """
    live = Live(fan, lab("codex", short_folder, model_server, stage))
    live.trust()
    (first,) = live.start("Remember the word heliotrope.")
    live.sent(first)
    live.becomes(state="rest", turn="done", within=60)
    stop_tmux(fan)
    done = live.fan.run("resume", "--json", cwd=live.top, env=live.environ)
    assert (done.code, len(done.json["members"])) == (0, 1), done.out + done.err
    assert live.world.store.member(live.id).conversation
    live.becomes(state="rest", gone=False, within=60)
    assert "heliotrope" in live.screen()
    answer = ask(live.world, AskRequest(live.id, "And now? %say=Still heliotrope.%"))
    assert (answer.quality, answer.answer) == ("complete", "Still heliotrope.")
