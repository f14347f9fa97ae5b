"""The joint reading of real agents, sampled through a whole session and compared with the truth."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.agents.truth import CLOSING, DIALOG, PAINTING, REST, SENDING, UNTOLD, WORK, Sampler, Truth, score
from tests.agents.words import WORDS
from tests.support.cli import Fan

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

PAUSE = 5.0


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_no_moment_is_read_as_rest_but_rest(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """Trust, answers at once and streamed, silence, permission, a tool that runs, Esc: at least 98 % of rest is seen.

    Goes red when a witness of rest is taken from the recipe, or a report that no hook takes back counts for long.
    """
    live, words, truth = Live(fan, lab(agent, short_folder, model_server, stage)), WORDS[agent], Truth()
    (first,) = live.start("at once")
    with Sampler(live) as sampler:
        truth.mark(0.0, DIALOG)
        live.becomes(state="needs_input", kind="trust")
        time.sleep(1)
        truth.mark(time.time(), UNTOLD)
        live.press("Enter")
        live.sent(first)
        _rest(live)
        for text in ("streams %slow=5%", "thinks %think=5%", "says %say=1. Yes\n\nesc to interrupt%"):
            live.sent(live.send(text))
            _rest(live)
        live.sent(live.send(words.permission))
        live.becomes(state="needs_input")
        time.sleep(2)
        truth.mark(time.time(), WORK)
        live.press("Enter")
        _rest(live)
        for seconds in (2, 6):
            live.asked(live.send(f"is interrupted after {seconds} s %slow=20%").text)
            time.sleep(seconds)
            live.press("Escape")
            truth.mark(time.time(), CLOSING)
            truth.mark(time.time() + PAINTING, REST)
            _rest(live)
    truth.hear(model_server.events, [words.permission])
    for delivery in live.world.store.deliveries(live.id):
        assert delivery.pressed_at
        truth.mark(delivery.pressed_at, SENDING)
    found = score(truth, sampler.samples)
    print(f"\n{agent}\n{found.table()}")
    assert found.false_rests == []
    assert found.recognised >= 0.98
    assert len(found.taken) <= len(live.prompts()), "at most one look a prompt"
    assert min(found.counts[REST, "rest"], found.counts[WORK, "working"], found.counts[DIALOG, "needs_input"]) > 20


def _rest(live: Live) -> None:
    live.becomes(state="rest", turn="done")
    time.sleep(PAUSE)
