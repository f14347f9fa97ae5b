"""What `fan compare` tells of real agents' work, by their own transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fan.world.tmux import Tmux
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.support.cli import Fan
from tests.support.members import becomes
from tests.support.wait import eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]


def test_time_and_tokens_are_told(fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage) -> None:
    """The one answer's tokens, as the model counted them, and the seconds of its turn.

    Goes red when the transcript is not found by the hook's word, or when an answer's lines are added up.
    """
    real = lab("claude", short_folder, model_server, stage)
    top = fan.repos.repo()
    (row,) = fan.run("1", "--agent", "claude", "--json", "Say hello.", cwd=top, env=real.environ).json["members"]
    assert Tmux(fan.runtime / "tmux", fan.env).press(row["pane"], "Enter") == "done"
    becomes(fan, row, within=60, prompt_status="sent", turn="done")

    def compared() -> dict[str, Any]:
        (found,) = fan.run("compare", "--json", cwd=top, env=real.environ).json["members"]
        return dict(found)

    # The turn's end is in the history once the courier has seen it as well.
    eventually(lambda: compared()["seconds"] is not None, within=20, every=0.3)
    found = compared()
    assert found["tokens"] == {"input": 100, "cached": 0, "output": 20}
    assert 0 < found["seconds"] < 60
    assert (found["commits"], found["files"], found["problem"]) == (0, [], "")
