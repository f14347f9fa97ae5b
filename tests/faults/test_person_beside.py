"""The person at the same pane, in the middle of a delivery."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from fan.core.model import Delivery, Status
from fan.courier import start as courier
from fan.courier.housekeeping import drop_stale_buffers
from fan.courier.loop import Courier
from fan.world.tmux import Outcome, Tmux
from tests.support.cli import Fan
from tests.support.members import becomes, listed, now, press, recipe, sessions, start, stop_courier, tmux, write
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.tmux import alive, terminal
from tests.support.wait import eventually

LONG = "Mend the client, " + "and then the server, " * 12 + "and say when it is done."


@pytest.fixture
def patient(puppets: Puppets) -> str:
    """An agent that is given three seconds between paste and Enter."""
    recipe(puppets, "patient", ("[submit]\n", "[submit]\ngap = 3.0\nstall = 12.0\n"))
    return "patient"


def _pasted(fan: Fan, puppets: Puppets, repo: Path, agent: str) -> dict[str, Any]:
    """A member whose prompt stands in the composer, not submitted yet."""
    (row,) = start(fan, repo, 1, agent, "--detach", "Do it")
    eventually(lambda: puppets.raw(row).endswith(b"\x1b[201~"), within=20, every=0.005)
    return row


def test_attached_with_a_small_terminal(fan: Fan, puppets: Puppets) -> None:
    """While somebody watches in 50 columns, a prompt of several lines there arrives byte for byte; when they have
    left, the pane has its size again."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    attached = ["tmux", "-S", str(fan.runtime / "tmux"), "attach", "-t", f"={row['session']}"]
    size = ("display-message", "-p", "-t", row["pane"], "#{window_width}x#{window_height}")
    with terminal(attached, fan.env, width=50, height=14):
        eventually(lambda: tmux(fan, *size).startswith("50x"))
        assert fan.run("send", row["id"], LONG, cwd=repo).code == 0
        puppets.takes(row, "Do it", LONG)
        becomes(fan, row, prompt_status="sent")
    eventually(lambda: tmux(fan, *size) == "220x50")


def test_a_draft_typed_beside_the_paste(fan: Fan, puppets: Puppets, patient: str) -> None:
    """A letter of the person's between paste and Enter: no Enter of ours, the row says why, and the text stays theirs
    to send.

    Red when the composer is not read again before the submit key.
    """
    row = _pasted(fan, puppets, fan.repos.repo(), patient)
    write(fan, row, "x")
    assert becomes(fan, row, prompt_status="not_sent", typed="yes")["prompt_note"]
    assert b"\r" not in puppets.raw(row)
    press(fan, row, "Enter")
    puppets.takes(row, "Do itx")


def test_copy_mode_between_paste_and_enter(fan: Fan, puppets: Puppets, patient: str) -> None:
    """While the pane is scrolled nothing is submitted and the row says so; afterwards one Enter sends it."""
    row = _pasted(fan, puppets, fan.repos.repo(), patient)
    tmux(fan, "copy-mode", "-t", row["pane"])
    eventually(lambda: "copy mode" in now(fan, row)["prompt_note"], within=8)
    assert (puppets.submitted(row), now(fan, row)["prompt_status"]) == ([], "pending")
    tmux(fan, "send-keys", "-t", row["pane"], "-X", "cancel")
    puppets.takes(row, "Do it")
    assert becomes(fan, row, prompt_status="sent", prompt_note="")
    assert puppets.raw(row).count(b"\r") == 1


def test_resized_and_split_between_paste_and_enter(fan: Fan, puppets: Puppets, patient: str) -> None:
    """The window made small, then split with the new pane in front: the Enter goes to the agent, once, and the first
    pane stays the member's."""
    repo = fan.repos.repo()
    row = _pasted(fan, puppets, repo, patient)
    tmux(fan, "resize-window", "-t", row["pane"], "-x", "60", "-y", "20")
    typed = fan.folder / "typed"
    tmux(fan, "split-window", "-t", row["pane"], f"cat > {typed}")
    puppets.takes(row, "Do it")
    becomes(fan, row, prompt_status="sent")
    assert fan.run("send", row["id"], "Then that", cwd=repo).code == 0
    puppets.takes(row, "Do it", "Then that")
    assert puppets.raw(row).count(b"\r") == 2
    assert (list(listed(fan, repo, "--no-git"))[-1], typed.read_bytes()) == (row["id"], b"")


def test_a_session_renamed_by_hand(fan: Fan, puppets: Puppets) -> None:
    """It is found by what `fan` wrote on it, not by its name: nothing is gone, a prompt arrives, `rm` ends it."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    tmux(fan, "rename-session", "-t", f"={row['session']}", "mine")
    assert not now(fan, row)["gone"]
    assert fan.run("send", row["id"], "Then that", cwd=repo).code == 0
    puppets.takes(row, "Do it", "Then that")
    assert fan.run("rm", row["id"], cwd=repo).code == 0
    assert sessions(fan) == []


def test_dead_at_the_moment_of_the_paste(fan: Fan, puppets: Puppets, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent dies after the last look and before the paste: nothing is typed, the row says how it ended, and the
    tmux server lives on with the others.

    Red when the paste is not guarded in the same tmux command: tmux 3.3a itself dies then.
    """
    repo = fan.repos.repo()
    one, other = start(fan, repo, 2, "puppet", "Do it")
    stop_courier(fan)
    world = Remains(fan, repo).world
    eventually(lambda: "fan-courier" not in tmux(fan, "list-sessions", "-F", "#{session_name}").split())
    world.tmux.start_courier(["sleep", "60"], courier.environment(fan.env))
    paste = Tmux.paste
    outcomes: list[Outcome] = []

    def dying(watch: Tmux, pane: str, buffer: str) -> Outcome:
        process = psutil.Process(world.store.member(one["id"]).pid)
        os.kill(process.pid, signal.SIGKILL)
        eventually(lambda: next(pane for pane in watch.panes() if pane.id == one["pane"]).dead)
        outcomes.append(paste(watch, pane, buffer))
        return outcomes[-1]

    monkeypatch.setattr(Tmux, "paste", dying)
    world.store.add_delivery(Delivery(0, one["id"], "Then that", world.clock.now()))
    watch = world.tmux.watch()
    looking = Courier(world, watch)
    eventually(lambda: looking.tick() >= 0 and not world.store.open_deliveries(), within=20, every=0.05)
    drop_stale_buffers(world, watch)
    watch.close()
    last = world.store.deliveries(one["id"])[-1]
    assert (last.status, last.typed, outcomes) == (Status.NOT_SENT, "no", ["dead"])
    assert "137" in last.note
    assert b"Then that" not in puppets.raw(one)
    assert alive(world.store.member(other["id"]).pid)
    assert world.tmux.buffers() == set()
