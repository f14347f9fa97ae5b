"""Ctrl-C: while the program loads, and while it shows what comes."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.wait import eventually

SLOW = """
import os, pathlib, time
pathlib.Path(os.environ["LOADING"]).touch()
time.sleep(60)
"""


def begun(fan: Fan, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A command line on its way, which hears of Ctrl-C as one at a terminal does."""
    # What runs in the background of a shell inherits that Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [*PROGRAM, *words],
            env=fan.env | (env or {}),
            cwd=fan.repos.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("words", [["ls"], ["mail", "ls"], ["ls", "--json"]])
def test_an_interrupt_while_modules_load_is_one_line(fan: Fan, words: list[str]) -> None:
    """Exit 130 and no traceback. Goes red when only the verb itself is guarded, as what it is made of still loads."""
    (fan.folder / "msgspec.py").write_text(SLOW)
    loading = fan.folder / "loading"
    process = begun(fan, *words, env={"LOADING": str(loading), "PYTHONPATH": f"{fan.folder}:{fan.env['PYTHONPATH']}"})
    eventually(loading.exists, within=10)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    if "--json" in words:
        assert (json.loads(out)["error"]["code"], err) == ("interrupted", "")
    else:
        assert (out, err) == ("", "fan: interrupted\n")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_following_events_ends_quietly_with_an_interrupt(fan: Fan, form: list[str]) -> None:
    """It is how it is meant to end: exit 0, and the stream holds events and nothing else."""
    assert fan.run("mail", "send", "human", "Hello").code == 0
    process = begun(fan, "events", "--follow", *form)
    assert process.stdout
    first = process.stdout.readline()
    assert "message" in first
    waiters = fan.runtime / "waiters"
    eventually(lambda: waiters.is_dir() and [*waiters.iterdir()], within=10)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_dash_behind_two_dashes_is_text(fan: Fan) -> None:
    """What follows `--` is what is sent; without it a dash stands for standard input."""
    assert fan.run("mail", "send", "human", "--", "-", stdin="not this").code == 0
    assert fan.run("mail", "send", "human", "-", stdin="but this").code == 0
    bodies = [one["body"] for one in fan.run("mail", "read", "--json").json["messages"]]
    assert bodies == ["-", "but this"]
