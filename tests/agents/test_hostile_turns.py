"""Prompts are pending while real agents work, think, are interrupted, leave a shell behind, or end."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from fan.core.model import State, Status, Typed
from tests.agents.conftest import lab
from tests.agents.drive import Stage
from tests.agents.fake_model.server import FakeModel
from tests.agents.live import Live
from tests.agents.words import WORDS
from tests.support.cli import Fan
from tests.support.tmux import alive
from tests.support.wait import eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240), pytest.mark.parametrize("agent", ["claude", "codex"])]

WORKS = {State.WORKING}


def test_nothing_is_typed_into_a_turn(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """A streamed answer and silent thinking are work all the time; the next prompt goes when they are over.

    Goes red when the answer that streams, or the silence, is read as rest.
    """
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    (slow,) = live.start("first %slow=4%")
    live.asked(slow.text)
    thinking = live.send("second %think=4%")
    assert live.holds_back(thinking, still=False) == WORKS
    assert live.row().detail == ""
    live.asked(thinking.text)
    last = live.send("third")
    assert live.holds_back(last, still=False) == WORKS
    live.sent(last)
    live.becomes(state="rest", turn="done")
    assert live.prompts() == [slow.text, thinking.text, last.text]
    asked, ended = (
        [event["t"] for event in _of_persons(model_server) if event["ev"] == kind] for kind in ("start", "end")
    )
    assert all(end < ask for end, ask in zip(ended[:-1], asked[1:], strict=True))


def test_esc_is_rest_again_soon(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """No hook tells of Esc: within 6 s it is at rest, without our typing it first, and takes what was pending."""
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    (slow,) = live.start("first %slow=30%")
    live.asked(slow.text)
    for number in range(2):
        time.sleep(1 + number * 5)
        pending = live.send(f"after Esc {number} %slow=30%")
        assert live.holds_back(pending, still=False, window=1) == WORKS
        live.press("Escape")
        pressed = time.time()
        assert live.passes(State.REST, within=6) <= {State.WORKING, State.REST}
        print(f"{agent}: rest {time.time() - pressed:.1f} s after Esc")
        live.asked(pending.text, within=6)
    live.press("Escape")
    live.becomes(state="rest", turn="done", within=6)
    assert live.prompts() == [slow.text, "after Esc 0 %slow=30%", "after Esc 1 %slow=30%"]


def test_a_shell_left_behind_is_shown_and_no_end_of_the_work(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """The turn of a prompt runs as long as its background shell; the composer takes the next one meanwhile.

    Goes red when the recipe does not find background work, or when it is looked for in the footer alone.
    """
    live, words = Live(fan, lab(agent, short_folder, model_server, stage)), WORDS[agent]
    live.trust()
    (first,) = live.start(words.background)
    row = live.becomes(state="rest", prompt_status="sent")
    assert (row.turn, row.detail) == ("running", words.shell)
    live.becomes(state="rest", turn="done", detail="")
    assert live.prompts() == [first.text]


def test_leaving_ends_what_was_pending(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """A person's draft holds the prompt back; they clear it and leave: exited, and the prompt was not sent."""
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    (first,) = live.start("first")
    live.sent(first)
    live.becomes(state="rest", turn="done")
    live.press("x", "y")
    eventually(lambda: draft(live) == "xy")
    pending = live.send("never")
    assert live.holds_back(pending, still=False) == {State.REST}
    assert draft(live) == "xy"
    pane = live.row().pane
    eventually(lambda: live.world.tmux.press(pane, "C-c") == "dead", within=10, every=0.1)
    row = live.becomes(state="exited", prompt_status="not_sent", typed="no")
    assert row.prompt_note.startswith("agent exited with code 0")
    assert live.prompts() == [first.text]


def test_a_killed_agent_has_exited(
    fan: Fan, short_folder: Path, model_server: FakeModel, stage: Stage, agent: str
) -> None:
    """kill -9 in a turn: exited, the pending prompt not sent, and all that the agent had started is gone."""
    live = Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    (first,) = live.start("first %slow=20%")
    live.asked(first.text)
    pending = live.send("never")
    pane = live.seen().pane
    assert pane
    own = psutil.Process(pane.pid)
    others = own.children(recursive=True)
    own.send_signal(signal.SIGKILL)
    live.becomes(state="exited", within=5)
    eventually(lambda: live.now(pending).status is Status.NOT_SENT, within=5)
    ended = live.now(pending)
    assert (ended.typed, ended.note.split(":")[0]) == (Typed.NO, "agent exited with code 137")
    assert live.row().turn == "none"
    assert live.prompts() == [first.text]
    eventually(lambda: not any(alive(other.pid) for other in others), within=10)


def draft(live: Live) -> str:
    """What stands in its composer."""
    composer = live.seen().reading.composer
    return composer.text if composer else ""


def _of_persons(model: FakeModel) -> list[dict[str, Any]]:
    """The events of requests that a person's words began."""
    asked = {one["id"] for one in model.events if one["ev"] == "start" and one["kind"] == "main"}
    return [one for one in model.events if one.get("id") in asked]
