"""Prompts are pending while the model of real agents fails: never rest while they try again, then each goes once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fan.core.model import State
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

# What the agent does with each: tries again for minutes, or ends its turn with an error.
CASES = {
    "claude": {"400": State.ERRORED, "401": State.WORKING, "500": State.WORKING, "refused": State.WORKING},
    "codex": {"400": State.ERRORED, "401": State.ERRORED, "500": State.ERRORED, "refused": State.WORKING},
}


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_failing_model_is_no_rest(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """While it tries again it works, and holds the next prompt back; after an error its composer takes one.

    Goes red when a turn that failed is read as rest or as the work done, or when nothing can be sent after an error.
    """
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    (first,) = live.start("hello")
    live.sent(first)
    live.becomes(state="rest")
    for failure, state in CASES[agent].items():
        with failing(model_server, failure):
            live.sent(live.send(f"fails with {failure}"))
            assert State.REST not in live.passes(state), failure
            following = live.send(f"after {failure}") if state is State.WORKING else None
            if following:
                assert live.holds_back(following, still=False) == {State.WORKING}, failure
            else:
                assert live.row().turn == "none"
        live.sent(following or live.send(f"after {failure}"))
        live.becomes(state="rest", turn="done")
        assert live.prompts().count(f"after {failure}") == 1


@contextmanager
def failing(model: FakeModel, failure: str) -> Iterator[None]:
    """The model fails so while in this block."""
    if failure == "refused":
        with model.refusing():
            yield
        return
    model.switch(status=int(failure))
    try:
        yield
    finally:
        model.switch(status=0)
