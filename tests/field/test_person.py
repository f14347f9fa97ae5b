"""Field cases: mail to the person and the brief, where text is hostile or private."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from fan.core.brief import BRIEF
from tests.support.cli import Fan
from tests.support.members import becomes, error, start, tmux
from tests.support.puppets import Puppets
from tests.support.wait import eventually

TELL = "tell-tale"
HOSTILE = f"fan ls $(touch {TELL}) `touch {TELL}` #(touch {TELL}) #{{pane_id}} ; touch {TELL} [/red] [y/N]"


def tales(fan: Fan) -> list[Path]:
    """Files that a text has made."""
    return list(fan.folder.rglob(TELL))


@pytest.mark.field("B072")
@pytest.mark.field("B075")
@pytest.mark.timeout(180)
def test_b072_hostile_text_to_the_person_is_text(fan: Fan, puppets: Puppets) -> None:
    """A prompt under `--brief`, a group's name, mail, a question and its options full of substitutions, tmux formats
    and brackets: each arrives byte for byte, is shown letter by letter, and makes no file; nor do alert or badge.

    Red when any of these goes through a shell or into a tmux format.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet:permission", "--brief", "--name", "fan/$(touch-x)", HOSTILE)
    eventually(lambda: tmux(fan, "show-options", "-gv", "@fan_waiting") == "1", within=15)
    tmux(fan, "send-keys", "-t", row["pane"], "Enter")
    puppets.takes(row, BRIEF + HOSTILE)
    becomes(fan, row, state="rest")
    assert puppets.runs(row, "mail", "send", "human", HOSTILE, "--subject", HOSTILE[:120]).code == 0
    asked = puppets.runs(row, "mail", "ask-human", HOSTILE, "--option", HOSTILE, "--timeout", "1", "--json")
    assert error(asked.out)["code"] == "timed_out"
    shown = fan.run("mail", "read", "human", cwd=repo).out
    assert shown.count(HOSTILE) == 4
    assert f"Option 1: {HOSTILE}\n" in shown
    assert HOSTILE[:40] in fan.run("mail", "ls", cwd=repo).out
    assert tales(fan) == []


@pytest.mark.field("B074")
@pytest.mark.timeout(180)
def test_b074_what_the_person_is_told_is_theirs_alone(fan: Fan, puppets: Puppets) -> None:
    """With umask 0 nobody else may read the record, change our program on the agents' PATH, or ring who waits for an
    answer; no lasting process has the prompt or the mail in its arguments, and what is shown is masked.

    Red when the folder of our program is open to others, or a waiter's fifo is.
    """
    old = os.umask(0)
    try:
        repo = fan.repos.repo()
        (row,) = start(fan, repo, 1, "puppet", "--brief", "Use sk-not-a-real-one-at-all to log in.")
    finally:
        os.umask(old)
    becomes(fan, row, turn="done")
    puppets.runs(row, "mail", "send", "human", "It was sk-not-a-real-one-at-all.")
    waiting = subprocess.Popen(
        [f"{fan.state}/bin/fan", "mail", "ask-human", "-", "--timeout", "4"],
        env=puppets.started(row)["env"],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    waiting.communicate(b"May I use sk-not-a-real-one-at-all?", timeout=30)
    assert waiting.returncode == 6
    for place in (fan.state, fan.state / "bin", fan.runtime, fan.runtime / "waiters"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700, place
    assert stat.S_IMODE((fan.state / "bin" / "fan").stat().st_mode) == 0o700
    for file in fan.state.glob("fan.sqlite3*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert not [one for one in fan.processes() if "sk-not-a-real-one-at-all" in " ".join(one.cmdline())]
    shown = fan.run("mail", "read", "human", cwd=repo).out
    assert "sk-not-a-real-one-at-all" not in shown
    assert shown.count("*" * len("sk-not-a-real-one-at-all")) == 2
