"""Prompts are pending while real agents ask: nothing is typed into a dialog, and each is taken once afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.core.model import State
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.agents.words import WORDS
from tests.support.cli import Fan
from tests.support.wait import eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

ASKS = {State.NEEDS_INPUT}


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_no_dialog_is_typed_into(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """Trust, permission and a question hold the next prompt back without a cell of theirs changing; then it goes.

    Goes red when a dialog's rule no longer fits, or when a prompt is typed in a state other than rest.
    """
    live, words = Live(fan, lab(agent, short_folder, model_server, stage)), WORDS[agent]
    (first,) = live.start("the first")
    live.becomes(state="needs_input", kind="trust")
    assert live.holds_back(first, still=True) == ASKS
    live.press("Enter")
    live.sent(first)

    asking = live.send(words.permission)
    live.becomes(state="needs_input", kind="permission", prompt_status="sent", turn="running")
    second = live.send("the second")
    assert live.holds_back(second, still=True) == ASKS
    made = Path(live.row().path, "made.txt")
    assert not made.exists()
    live.press("Enter")
    live.sent(second)
    eventually(made.exists)

    live.becomes(state="rest")
    live.press(*words.questions)
    question = live.send(words.question)
    live.becomes(state="needs_input", kind="choice", prompt_status="sent")
    third = live.send("the third")
    assert live.holds_back(third, still=True) == ASKS
    live.press("Enter")
    live.sent(third)
    live.becomes(state="rest", turn="done")
    assert live.prompts() == [one.text for one in (first, asking, second, question, third)]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_denial_is_rest_again_soon(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """Esc at a permission question, of which no hook tells: within 6 s it is at rest and takes the next prompt."""
    live, words = Live(fan, lab(agent, short_folder, model_server, stage)), WORDS[agent]
    live.trust()
    (first,) = live.start(words.permission)
    live.becomes(state="needs_input", kind="permission")
    live.press("Escape")
    live.becomes(state="rest", turn="done", within=6)
    second = live.send("the second")
    live.sent(second, within=10)
    live.becomes(state="rest")
    assert live.prompts() == [first.text, second.text]
