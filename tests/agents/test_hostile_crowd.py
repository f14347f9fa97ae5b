"""Ten of each real agent, started at once in one repository."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fan.core.model import Delivery, Status
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan
from tests.support.wait import eventually

pytestmark = [pytest.mark.agents, pytest.mark.alone, pytest.mark.timeout(400)]

EACH = 10
NAMES = ("claude", "codex")


def test_ten_of_each_at_once(fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage) -> None:
    """Each gets its prompt once, and what the person had in the agents' own settings is there, unchanged.

    Goes red when a prompt is typed before its agent takes keys, or when two starts write one settings file.
    """
    live = Live(fan, lab(NAMES[0], short_folder, model_server, stage))
    other = Live(fan, lab(NAMES[1], short_folder, model_server, stage), live.top)
    path = f"{live.real.program.parent}:{other.environ['PATH']}"
    environ = live.environ | other.environ | {"PATH": path}
    for one in (live, other):
        one.trust()
    before = made_the_persons_own(live.real.home)
    prompts = [f"Say hello to number {number} of the crowd." for number in range(EACH * len(NAMES))]
    words = ["--agent", ",".join(NAMES), "--detach", "--json", *(f"--prompt={text}" for text in prompts)]
    begun = fan.run(str(len(prompts)), *words, cwd=live.top, env=environ, timeout=120)
    assert begun.code == 0, begun.out + begun.err
    members = begun.json["members"]
    assert sorted(row["agent"] for row in members) == sorted(NAMES * EACH)

    def first(row: dict[str, Any]) -> Delivery:
        return live.world.store.deliveries(row["id"])[0]

    eventually(lambda: all(first(row).status is not Status.PENDING for row in members), within=240, every=0.5)
    assert [(one.status, one.note) for one in map(first, members)] == [(Status.SENT, "")] * len(members)
    for row in members:
        live.id = row["id"]
        live.becomes(state="rest", turn="done", within=60)
    assert sorted(live.model.prompts()) == sorted(prompts)
    assert within(before, now := settings(live.real.home)), f"{before}\n{now}"


def made_the_persons_own(home: Path) -> dict[str, Any]:
    """The agents' own files with settings that are nobody's default."""
    first = home / ".claude.json"
    own = json.loads(first.read_text())
    own |= {"theme": "light", "autoCompactEnabled": False}
    own["projects"]["/elsewhere"] = {"hasTrustDialogAccepted": True, "allowedTools": ["Bash(ls:*)"]}
    first.write_text(json.dumps(own))
    with (home / ".codex/config.toml").open("a") as second:
        second.write('\n[projects."/elsewhere"]\ntrust_level = "untrusted"\n')
    return settings(home)


def settings(home: Path) -> dict[str, Any]:
    """What stands in the agents' own files."""
    return {
        NAMES[0]: json.loads((home / ".claude.json").read_text()),
        NAMES[1]: tomllib.loads((home / ".codex/config.toml").read_text()),
    }


def within(own: Any, now: Any) -> bool:
    """Whether all that the person had is still there as it was; the agents may add to it."""
    if isinstance(own, dict) and isinstance(now, dict):
        return all(key in now and within(value, now[key]) for key, value in own.items())
    return bool(own == now)
