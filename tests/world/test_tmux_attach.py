"""Showing a session to the person, with real terminals."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.errors import TmuxFailed
from fan.world.tmux import Tmux, attach
from tests.support.tmux import Ground, alive, terminal
from tests.support.wait import eventually

ATTACH = (
    "import os, sys; from pathlib import Path; from fan.world.tmux import Tmux, attach;"
    "tmux = Tmux(Path(sys.argv[1]), os.environ); attach(tmux, tmux.panes()[0])"
)


class Person:
    """The person's own tmux server, with settings that differ from ours."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.socket = folder / "person"
        self.environ = environ
        settings = folder / "person.conf"
        settings.write_text("set -g base-index 1\nset -g status on\nset-hook -g after-new-window 'command-prompt'\n")
        self.raw("-f", str(settings), "new-session", "-d", "-x", "100", "-y", "30", "-s", "own", "cat")

    def raw(self, *words: str) -> str:
        """What tmux says on the person's socket."""
        command = ["tmux", "-u", "-S", str(self.socket), *words]
        return subprocess.run(
            command, env=self.environ, capture_output=True, text=True, timeout=10, check=False
        ).stdout.strip()

    def end(self) -> None:
        """End the person's server."""
        server = int(self.raw("display-message", "-p", "#{pid}") or 0)
        self.raw("kill-server")
        eventually(lambda: not alive(server))


@pytest.fixture
def person(ground: Ground) -> Iterator[Person]:
    """A person in a tmux of their own."""
    made = Person(ground.folder, ground.environ)
    yield made
    made.end()


def test_a_member_that_is_shown_already_is_gone_to(ground: Ground, person: Person) -> None:
    """A second attach makes no second window. Red when it always opens one."""
    shown = ground.open("cat", name="shown")
    inside = Tmux(ground.socket, {**ground.environ, "TMUX": f"{person.socket},1,0"})
    attach(inside, shown)
    (window,) = [
        line
        for line in person.raw("list-windows", "-F", "#{window_id} #{window_name}").splitlines()
        if "shown" in line
    ]
    person.raw("select-window", "-t", "own:1")
    attach(inside, shown)
    assert person.raw("list-windows", "-F", "#{window_id} #{window_name}").count("shown") == 1
    assert person.raw("display-message", "-p", "#{window_id}") == window.split()[0]


def test_without_a_terminal_the_refusal_is_ours(ground: Ground) -> None:
    """tmux itself would say `open terminal failed` on the streams of whoever called."""
    with pytest.raises(TmuxFailed, match="terminal") as refused:
        attach(ground.tmux, ground.open("cat", name="shown"))
    assert refused.value.not_done


def test_a_terminal_becomes_the_session(ground: Ground) -> None:
    """Outside tmux the person's terminal shows the agent and how to leave; leaving ends neither."""
    pane = ground.open("sh", "-c", "echo agent here; exec cat")
    argv = [sys.executable, "-c", ATTACH, str(ground.socket)]
    environ = {**ground.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with terminal(argv, environ, width=90, height=25) as shown:
        eventually(lambda: b"agent here" in shown.seen and b"d leaves" in shown.seen)
        shown.type(b"hello\r")
        eventually(lambda: "hello" in ground.text(pane))
        shown.type(b"\x02d")
        eventually(shown.ended)
    assert not ground.pane(pane).dead


def test_inside_tmux_a_window_opens(ground: Ground, person: Person) -> None:
    """Inside the person's tmux a window shows the agent alone; one shown key leaves, and all is as before.

    The person's hook on new windows fails, which is no failure of ours.
    """
    pane = ground.open("sh", "-c", "echo agent here; exec cat", name="task")
    inside = Tmux(ground.socket, {**ground.environ, "TMUX": f"{person.socket},1,0"})
    attach(inside, pane)
    eventually(lambda: "agent here" in person.raw("capture-pane", "-p", "-t", "own:2"))
    assert person.raw("list-windows", "-F", "#{window_name}").splitlines()[-1] == "task (C-] leaves)"
    # The whole window: no second status line takes a row.
    eventually(lambda: ground.pane(pane).size == (100, 30))
    eventually(lambda: "leaves" not in person.raw("capture-pane", "-p", "-t", "own:2"))
    person.raw("send-keys", "-t", "own:2", "C-b", "d")
    eventually(lambda: "^Bd" in ground.text(pane))
    person.raw("send-keys", "-t", "own:2", "C-]")
    eventually(lambda: len(person.raw("list-windows").splitlines()) == 1)
    eventually(lambda: ground.pane(pane).size == (220, 50))
    assert not ground.pane(pane).dead
    eventually(lambda: "prefix" not in ground.raw("show-options", "-t", pane.session_id))


def test_the_key_to_leave_is_the_agents_elsewhere(ground: Ground) -> None:
    """In a plain terminal the key that leaves a nested session goes to the agent."""
    pane, log = ground.record()
    with terminal(ground.tmux.attach_argv(pane.session_id), ground.environ) as shown:
        eventually(lambda: b"ready" in shown.seen)
        shown.type(b"\x1d")
        eventually(lambda: log.read_bytes() == b"\x1d")


def test_a_window_that_does_not_open_says_how_else(ground: Ground) -> None:
    """When the person's tmux is gone the refusal names the command for another terminal."""
    pane = ground.open()
    inside = Tmux(ground.socket, {**ground.environ, "TMUX": f"{ground.folder}/none,1,0"})
    with pytest.raises(TmuxFailed, match="did not open a window") as refused:
        attach(inside, pane)
    assert refused.value.hint.startswith("env -u TMUX")
    assert pane.session_id in refused.value.hint
    assert ground.clients(pane) == 0


def test_odd_session_names_open_too(ground: Ground, person: Person) -> None:
    """A name with letters of any script and format marks is shown as it is, and nothing is run."""
    pane = ground.open("sh", "-c", "echo agent here; exec cat", name="über-ветка")
    shown = replace(pane, session="#(touch tell) #{pid}")
    attach(Tmux(ground.socket, {**ground.environ, "TMUX": f"{person.socket},1,0"}), shown)
    eventually(lambda: "agent here" in person.raw("capture-pane", "-p", "-t", "own:2"))
    assert "#(touch tell) #{pid} (C-] leaves)" in person.raw("list-windows", "-F", "#{window_name}")
    assert not list(ground.folder.rglob("tell"))
