"""`fan` with the real programs, unattended but for the trust question: what the README promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.world.tmux import Tmux
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.support.cli import Fan
from tests.support.wait import eventually

SHOWS = {"claude": "Session ID:", "codex": "Token usage:"}
"""What `/status` puts on the screen."""

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_trust_is_answered_by_hand_and_each_prompt_is_taken_once(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """One question for two worktrees; until it is answered nothing is typed, then each prompt reaches the model once.

    Goes red when a trust question is read as rest, when a held agent starts before the answer, or when a prompt is
    typed twice.
    """
    real = lab(agent, short_folder, model_server, stage)
    top = fan.repos.repo()
    begun = fan.run("2", "--agent", agent, "--json", "Say hello to the folder.", cwd=top, env=real.environ)
    assert begun.code == 3, begun.err
    rows = begun.json["members"]
    assert [row["prompt_status"] for row in rows] == ["pending", "pending"]
    assert [(row["state"], row["kind"]) for row in rows] == [("needs_input", "trust"), ("starting", "")]
    assert real.model.prompts() == []
    tmux = Tmux(fan.runtime / "tmux", fan.env)
    assert tmux.press(rows[0]["pane"], "Enter") == "done"

    def now() -> list[dict[str, str]]:
        shown = fan.run("ls", "--json", "--all", env=real.environ).json
        return [row for row in shown if row["managed"]]

    eventually(lambda: all(row["prompt_status"] == "sent" for row in now()), within=60, every=0.5)
    eventually(lambda: all(row["state"] == "rest" for row in now()), within=30, every=0.5)
    assert [row["turn"] for row in now()] == ["done", "done"]
    assert real.model.prompts() == ["Say hello to the folder."] * 2


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_slash_command_is_submitted_with_its_list_open(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """The list of commands below the composer is no reason to wait: the command runs, and the model hears nothing.

    Goes red when a composer with that list is not open by the recipe's rules.
    """
    real = lab(agent, short_folder, model_server, stage)
    top = fan.repos.repo()
    (row,) = fan.run("1", "--agent", agent, "--json", "Say hello.", cwd=top, env=real.environ).json["members"]
    assert Tmux(fan.runtime / "tmux", fan.env).press(row["pane"], "Enter") == "done"

    def now() -> dict[str, str]:
        return next(one for one in fan.run("ls", "--json", "--all", env=real.environ).json if one["managed"])

    eventually(lambda: (now()["prompt_status"], now()["turn"]) == ("sent", "done"), within=60, every=0.5)
    assert fan.run("send", "--command", row["id"], "/status", cwd=top, env=real.environ).code == 0
    eventually(lambda: now()["prompt_status"] == "sent", within=30, every=0.5)
    assert SHOWS[agent] in fan.run("why", row["id"], cwd=top, env=real.environ).out
    assert real.model.prompts() == ["Say hello."]
