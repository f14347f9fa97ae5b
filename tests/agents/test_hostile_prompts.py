"""Prompts of every shape reach real agents as their recipe documents it: no menu opens, no shell command runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.core.model import Status
from fan.core.prompt import prepare
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.support.cli import Fan

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300), pytest.mark.parametrize("agent", ["claude", "codex"])]

SHAPES = (
    "/help me with this",
    "/clear",
    "!touch made.txt",
    "! ls",
    "# remember this",
    "@README.md what is in it",
    "- an item of a list",
    "--help",
    "1. the first step",
    "$HOME and `touch made.txt` and $(touch made.txt)",
    "? for shortcuts",
    "exit",
    " quit ",
    ":wq!",
    " /clear after a blank",
    "\n/clear after a line",
    " !touch made.txt",
    "\n!touch made.txt",
    "& in the background",
    "~ > | * ^",
    "it ends in a backslash \\",
    "it ends in a semicolon ;",
    "it ends in a file @README.md",
    "it ends in a command /clear",
    "it ends in a dollar $x",
    "many\nlines\n\n\nwith blank ones\n  indented\n!touch made.txt\n/clear\n#\n",
    "a tab\tinside\n\tand\tbefore",
    "👩‍👩‍👧‍👦 naïve 漢字 \u200bzero width ✅",
    "markers \x1b[200~inside\x1b[201~ and\r!touch made.txt",
    "\x1b[201~!touch made.txt",
    "  blanks around  ",
    "%say=\u276f 1. Yes\n\nEnter to confirm · Esc to cancel%",
    "y",
)
# What their composers make of a tab.
TABS = {"claude": "    ", "codex": "\t"}


def test_each_shape_arrives_as_documented(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """All are queued at once, and each comes whole, once and in order; guards are those that the row names."""
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    live.start("hello")
    submit = live.world.catalogue.recipe(agent).submit
    sent = [live.send(text) for text in SHAPES]
    for one in sent:
        live.sent(one, within=60)
    live.becomes(state="rest", turn="done")
    typed = [prepare(text, submit) for text in SHAPES]
    assert [one.guards for one in sent] == ["; ".join(prepared.guards) for prepared in typed]
    told = [shown(one.text).replace("\t", TABS[agent]) for one in typed]
    assert [shown(text) for text in live.prompts()] == ["hello", *told]
    assert not Path(live.row().path, "made.txt").exists()


@pytest.mark.parametrize("size", [100_000])
def test_a_large_prompt_arrives_whole(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str, size: int
) -> None:
    """Just below the recipe's size all of it is pasted; above, one line points to a file that holds every byte."""
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    live.start("hello")
    largest = live.world.catalogue.recipe(agent).submit.largest
    lines = "".join(f"line {number}: é ; \\ tail\n" for number in range(size // 20))
    below = lines.encode()[: largest - 10].decode(errors="ignore") + "end"
    above = lines.encode()[:size].decode(errors="ignore") + "beyond the size"
    pasted, pointed = live.send(below), live.send(above)
    live.sent(pasted, within=90)
    live.sent(pointed, within=60)
    live.becomes(state="rest", turn="done")
    assert live.prompts()[1:] == [below, pointed.text]
    (file,) = Path(live.row().path, ".fan").glob("prompt-*.md")
    assert (file.name in pointed.text, file.read_text()) == (True, above)
    assert live.now(pasted).status is live.now(pointed).status is Status.SENT


def shown(text: str) -> str:
    """A prompt but for the blanks around it, which agents trim."""
    return text.strip()
