"""Looks at panes of a real tmux server, and what is known when there is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

import pytest

from fan.core.model import Span
from fan.errors import TmuxFailed
from fan.world.tmux.quoting import Command
from fan.world.tmux.transport import Output, ProcessTransport
from tests.support.tmux import Ground, alive
from tests.support.wait import eventually

TELLER = "while read -r line; do printf '%b' \"$line\"; done"


class Counting(ProcessTransport):
    """A real transport that remembers how many screens it was asked for."""

    captures = 0

    def run(self, commands: Sequence[Command]) -> list[Output]:
        self.captures += sum(command[0] == "capture-pane" for command in commands)
        return super().run(commands)


def test_a_look_holds_screen_styles_and_pane(ground: Ground) -> None:
    """Text, styles, cursor, title and command come together, with the given time."""
    script = "printf '\\033]2;a title\\007\\033[2mghost\\033[0m x \\033[38;5;246my\\033[39m'; exec cat"
    pane = ground.open("sh", "-c", script)
    eventually(lambda: ground.pane(pane).command == "cat")
    eventually(lambda: ground.text(pane) == "ghost x y")
    look = ground.tmux.looks([pane.id], 12.5)[pane.id]
    assert look.at == 12.5
    assert look.lines[0].spans == (Span(0, 5, "dim"), Span(8, 9, "fg246"))
    assert (look.pane.title, look.pane.command, look.pane.cursor) == ("a title", "cat", (9, 0))
    assert len(look.lines) == 50


def test_only_what_is_there_is_seen(ground: Ground) -> None:
    """Panes that never were or are gone have no look; those asked for with them have."""
    panes = [ground.open("sh", "-c", f"echo pane {n}; exec cat", name=f"p{n}") for n in range(4)]
    eventually(lambda: [ground.text(pane) for pane in panes] == [f"pane {n}" for n in range(4)])
    ground.tmux.end_session(panes[1].session_id)
    asked = ["%77", panes[3].id, panes[1].id, panes[0].id, panes[0].id]
    looks = ground.tmux.looks(asked, 1.0)
    assert set(looks) == {panes[3].id, panes[0].id}
    assert looks[panes[3].id].lines[0].text == "pane 3"
    assert ground.tmux.looks([panes[1].id], 1.0) == {}
    assert ground.tmux.looks([], 1.0) == {}


def test_a_pane_that_vanishes_in_between_hides_no_other(ground: Ground) -> None:
    """A pane that goes between the list and its capture ends tmux's chain, and the rest is still seen."""
    panes = [ground.open("sh", "-c", f"echo pane {n}; exec cat", name=f"p{n}") for n in range(3)]
    eventually(lambda: all(ground.text(pane) for pane in panes))

    class Vanishing(ProcessTransport):
        def run(self, commands: Sequence[Command]) -> list[Output]:
            listed, *captures = commands
            first = super().run([listed])
            ground.tmux.end_session(panes[0].session_id)
            return [*first, *(super().run(captures) if captures else [])]

    tmux = type(ground.tmux)(ground.socket, ground.environ, Vanishing(ground.socket, ground.environ))
    looks = tmux.looks([pane.id for pane in panes], 1.0)
    assert {pane_id: look.lines[0].text for pane_id, look in looks.items()} == {
        panes[1].id: "pane 1",
        panes[2].id: "pane 2",
    }


def test_a_screen_at_rest_is_captured_once(ground: Ground) -> None:
    """A pane that prints nothing costs no further capture, and what it prints then is seen at once.

    Fails when the time of the last output is not compared, or a screen of the same second is kept.
    """
    pane = ground.open("sh", "-c", TELLER)
    counting = Counting(ground.socket, ground.environ)
    tmux = type(ground.tmux)(ground.socket, ground.environ, counting)
    ground.raw("send-keys", "-t", pane.id, "one", "Enter")
    eventually(lambda: "oneone" in ground.text(pane, tmux).replace("\n", ""))

    def quiet() -> bool:
        before = counting.captures
        tmux.looks([pane.id], 0.0)
        return counting.captures == before

    def twice(word: str) -> bool:
        return ground.text(pane, tmux).count(word) == 2

    eventually(quiet)
    for word in (f"n{n}." for n in range(20)):
        ground.raw("send-keys", "-t", pane.id, word, "Enter")
        eventually(partial(twice, word))
    assert quiet() is False


def test_titles_and_names_cannot_forge_a_pane(ground: Ground) -> None:
    """A program's own name and title, whatever they hold, stay within their fields."""
    forged = "x\n%1\x1f$1|t|%0\n<t>"
    script = f"import sys; sys.stdout.write('\\033]2;a|b\\tc\\007up'); sys.stdout.flush(); sys.stdin.read()"  # noqa: F541
    wrapper = f"import os,sys; os.execv({sys.executable!r}, [{forged!r}, '-c', {script!r}])"
    pane = ground.open(sys.executable, "-c", wrapper)
    eventually(lambda: ground.text(pane) == "up")
    ground.raw("select-pane", "-t", pane.id, "-T", forged)
    (found,) = ground.tmux.panes()
    assert (found.id, found.launch, found.pid) == (pane.id, "launch-1", pane.pid)


@pytest.mark.field("B042")
def test_a_killed_server_is_known_as_gone(ground: Ground) -> None:
    """With the server gone there are no panes and no looks, and the same names can be opened again."""
    pane = ground.open()
    ground.kill_server()
    assert ground.tmux.panes() == []
    assert ground.tmux.looks([pane.id], 1.0) == {}
    assert not ground.has_session("one")
    ground.tmux.end_session(pane.session_id)
    assert ground.open().session == "one"


@pytest.mark.field("B042")
def test_a_crashed_server_is_known_as_gone(ground: Ground) -> None:
    """A server that was killed hard leaves its socket behind; that is no server, and a new one starts."""
    pane = ground.open()
    server = ground.server_pid()
    os.kill(server, 9)
    eventually(lambda: not alive(server))
    assert ground.socket.exists()
    assert ground.tmux.panes() == []
    assert ground.open().session == "one"
    eventually(lambda: not alive(pane.pid))


def test_no_server_was_ever_there(ground: Ground) -> None:
    """Looking starts no server and makes no folder."""
    assert ground.tmux.panes() == []
    assert ground.tmux.buffers() == set()
    assert not ground.socket.parent.exists()


def test_a_server_that_does_not_answer_is_an_error(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped server is neither gone nor at rest: the look fails within its time limit."""
    monkeypatch.setattr("fan.world.tmux.transport.LIMIT_SECONDS", 0.5)
    ground.open()
    server = ground.server_pid()
    os.kill(server, 19)
    try:
        with pytest.raises(TmuxFailed, match="did not answer"):
            ground.tmux.panes()
    finally:
        os.kill(server, 18)
    assert len(ground.tmux.panes()) == 1


def test_many_screens_fit_into_calls(ground: Ground) -> None:
    """More looks than one argument list of tmux's can carry are cut into several calls."""
    pane = ground.open("sh", "-c", "echo here; exec cat")
    eventually(lambda: ground.text(pane) == "here")
    transport = ProcessTransport(ground.socket, ground.environ)
    outputs = transport.run([("capture-pane", "-p", "-t", pane.id)] * 600)
    assert len(outputs) == 600
    assert {output.text.strip() for output in outputs} == {"here"}


def test_commands_behind_a_failed_one_are_not_run(ground: Ground) -> None:
    """An error is its own command's, what printed before it is kept, and the rest says that it was not run."""
    ground.open()
    transport = ProcessTransport(ground.socket, ground.environ)
    outputs = transport.run([("display-message", "-p", "a\nb"), ("capture-pane", "-p", "-t", "%9"), ("kill-server",)])
    assert outputs[0] == Output("a\nb")
    assert outputs[1].error == "can't find pane: %9"
    assert outputs[2] == Output(ran=False)
