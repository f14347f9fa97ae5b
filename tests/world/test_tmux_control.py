"""The control connection against a real tmux server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fan.errors import TmuxFailed
from fan.world.tmux import NoServer, Tmux
from fan.world.tmux.control import ControlTransport
from fan.world.tmux.transport import ProcessTransport, Transport
from tests.support.tmux import Ground, alive
from tests.support.tmux import ground as own_ground
from tests.support.wait import eventually

# tmux keeps its strings without NUL; the other control characters it may show in its own way.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=60)


LOOKING = """
import os, sys
from pathlib import Path
from fan.world.tmux import Tmux
watch = Tmux(Path(sys.argv[1]), os.environ).watch()
while True:
    watch.looks(["%0"], 1.0)
"""


@pytest.fixture
def watch(ground: Ground) -> Iterator[Tmux]:
    """A connection through the courier's session."""
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    watch = ground.tmux.watch()
    yield watch
    watch.close()


@pytest.fixture(scope="module")
def transports() -> Iterator[tuple[Transport, Transport]]:
    """Both transports to one server that all examples share."""
    with own_ground() as made:
        made.tmux.start_courier(["sleep", "1000"], made.environ)
        control = ControlTransport(made.socket, made.environ, "fan-courier")
        yield control, ProcessTransport(made.socket, made.environ)
        control.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(TEXT.filter(bool), min_size=1, max_size=4), over=st.sampled_from([0, 1]))
@example(texts=["~", "~root", "$HOME", "'", "a'b\"c", "\\", "\\n", "#{pid}"], over=0)
@example(texts=[";", "a;", "\\;", "\\\\;", "a ; b", "{", "}", "%if 1", "#comment", "-x"], over=0)
@example(texts=[";", "a;", "\\;", "\\\\;", "a ; b", "{", "}", "%if 1", "#comment", "-x"], over=1)
@example(texts=["a\nb", "\n", "\n%end 1 2 1\n", "%exit", "%begin 1 2 1", "x\n\n"], over=0)
def test_any_text_comes_back(transports: tuple[Transport, Transport], texts: list[str], over: int) -> None:
    """What is stored in an option over a transport reads back over the same one, character for character."""
    transport = transports[over]
    outputs = transport.run([("set-option", "-s", "--", f"@t{n}", text) for n, text in enumerate(texts)])
    assert [output.error for output in outputs] == [""] * len(texts)
    back = transport.run([("display-message", "-p", f"#{{@t{n}}}") for n in range(len(texts))])
    assert [output.text for output in back] == texts


def test_a_screen_cannot_end_its_own_block(ground: Ground, watch: Tmux) -> None:
    """Text on a screen that looks like tmux's own framing is text, and the next pane's look is its own."""
    lies = ground.folder / "lies"
    lies.write_text("\n".join(f"%end {n} {n} 1\n%begin {n} {n} 1\n%exit" for n in range(8)))
    liar = ground.open("sh", "-c", f"cat {lies}; exec cat", name="liar")
    honest = ground.open("sh", "-c", "echo honest; exec cat", name="honest")
    eventually(lambda: "%exit" in ground.text(liar) and ground.text(honest) == "honest")
    looks = watch.looks([liar.id, honest.id], 1.0)
    assert "%begin 7 7 1" in [line.text for line in looks[liar.id].lines]
    assert looks[honest.id].lines[0].text == "honest"


def test_a_failed_command_stops_no_other(watch: Tmux) -> None:
    """Each command over the connection has its own outcome."""
    outputs = watch.transport.run(
        [("capture-pane", "-p", "-t", "%99"), ("display-message", "-p", "fine"), ("no-such-command",)]
    )
    assert outputs[0].error == "can't find pane: %99"
    assert outputs[1].text == "fine"
    assert "no-such-command" in outputs[2].error


def test_large_answers_come_whole(ground: Ground, watch: Tmux) -> None:
    """A hundred full screens, asked for at once, arrive in order and complete."""
    pane = ground.open("sh", "-c", "seq -f '%0215g' 1 50 | head -c 10799; exec cat")
    eventually(lambda: len(ground.text(pane)) > 10_000)
    outputs = watch.transport.run([("capture-pane", "-p", "-t", pane.id)] * 300)
    assert len(outputs) == 300
    assert len({output.text for output in outputs}) == 1


def test_the_connection_takes_part_in_no_size(ground: Ground, watch: Tmux) -> None:
    """Watching changes no window's size, counts as nobody's look, and no output is asked for."""
    pane = ground.open("sh", "-c", "while :; do echo busy; sleep 0.05; done")
    eventually(lambda: "busy" in ground.text(pane, watch))
    found = watch.looks([pane.id], 1.0)[pane.id].pane
    assert (found.size, ground.clients(pane)) == ((220, 50), 0)
    flags = ground.raw("list-clients", "-F", "#{client_flags}")
    assert {"no-output", "ignore-size"} <= set(flags.split(","))


@pytest.mark.field("B042")
def test_a_server_killed_during_use_is_gone(ground: Ground, watch: Tmux) -> None:
    """The end of the whole server is seen as that: no panes over the old connection, and no new one."""
    pane = ground.open()
    assert [found.id for found in watch.panes()] == [pane.id]
    ground.kill_server()
    with pytest.raises(NoServer):
        watch.transport.run([("list-sessions",)])
    with pytest.raises(NoServer):
        ground.tmux.watch()


def test_the_end_of_the_watched_session_is_no_evidence(ground: Ground, watch: Tmux) -> None:
    """A connection that ends while the server lives is an error, never an empty list of panes."""
    ground.open()
    ground.raw("kill-session", "-t", "=fan-courier")
    with pytest.raises(TmuxFailed):
        watch.panes()
    with pytest.raises(TmuxFailed, match="fan-courier"):
        ground.tmux.watch()
    assert len(ground.tmux.panes()) == 1


def test_a_stopped_server_fails_within_the_limit(
    ground: Ground, watch: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does not answer ends the call and the connection, which then stays ended."""
    monkeypatch.setattr("fan.world.tmux.control.LIMIT_SECONDS", 0.5)
    server = ground.server_pid()
    os.kill(server, 19)
    try:
        with pytest.raises(TmuxFailed, match="did not answer"):
            watch.panes()
        with pytest.raises(TmuxFailed):
            watch.panes()
    finally:
        os.kill(server, 18)


def test_connecting_while_sessions_come_and_go_ends_no_server(ground: Ground) -> None:
    """A server outlives connections made in the very moments in which sessions open and end.

    Red without the lock around both: tmux dies when it tells of a session a client that is still introducing itself.
    """
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    server = ground.server_pid()
    with ThreadPoolExecutor(1) as pool:
        connecting = pool.submit(_connect, ground, 100)
        while not connecting.done():
            ground.tmux.end_session(ground.open(name="passing").session_id)
        connecting.result()
    assert ground.server_pid() == server


def _connect(ground: Ground, times: int) -> None:
    for _ in range(times):
        ground.tmux.watch().close()


def test_a_killed_courier_leaves_no_connection(ground: Ground) -> None:
    """Killed in the middle of its looks, again and again, a courier takes its connection with it.

    Fails when the client has a session of its own: tmux keeps it, and then never ends itself.
    """
    ground.open("sh", "-c", "while :; do seq 1 60; done")
    environ = {**ground.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(5):
        ground.tmux.start_courier([sys.executable, "-c", LOOKING, str(ground.socket)], environ)
        eventually(lambda: connections(ground) != [], within=15)
        os.kill(int(ground.raw("display-message", "-p", "-t", "=fan-courier:", "#{pane_pid}")), 9)
        eventually(lambda: not ground.has_session("fan-courier"))
    eventually(lambda: connections(ground) == [])


def connections(ground: Ground) -> list[int]:
    """The processes of control clients on this socket."""
    lists = {process.pid: process.info["cmdline"] or () for process in psutil.process_iter(["cmdline"])}
    return [pid for pid, words in lists.items() if str(ground.socket) in words and "-C" in words]


def test_closing_leaves_nothing(ground: Ground, watch: Tmux) -> None:
    """A closed connection has no process left, and closing again is no error."""
    client = int(ground.raw("list-clients", "-F", "#{client_pid}"))
    watch.close()
    watch.close()
    assert not alive(client)
    assert ground.has_session("fan-courier")
