"""Words into panes of a real tmux server, by process and over the control connection."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from fan.errors import TmuxFailed, UsageError
from fan.world.tmux import NoServer, Tmux
from tests.support.tmux import Ground, alive
from tests.support.wait import eventually

BRACKETS = "\\x1b[?2004h"


@pytest.fixture(params=["process", "control"])
def tmux(ground: Ground, request: pytest.FixtureRequest) -> Iterator[Tmux]:
    """The door over each of its two transports."""
    if request.param == "process":
        yield ground.tmux
        return
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    watch = ground.tmux.watch()
    yield watch
    watch.close()


def typed(tmux: Tmux, pane: str, text: str) -> str:
    """The outcome of a whole paste."""
    tmux.load("fan-1", text)
    return tmux.paste(pane, "fan-1")


@pytest.mark.field("B031")
@pytest.mark.parametrize(
    "text",
    [
        "run the tests;",
        ";",
        "a;b;",
        "a\\;",
        "-l dash",
        "tab\there\n\n  three\n",
        "'q' \"d\" $HOME `x` $(touch tell) #{pid} #(touch tell) ~ \\n %1",
        "grüße ✳ 日本語 👩‍💻 e\u0301",
    ],
)
def test_text_arrives_as_it_is(ground: Ground, tmux: Tmux, text: str) -> None:
    """Every byte of a paste reaches the program, once, and the buffer is gone."""
    pane, log = ground.record()
    assert typed(tmux, pane.id, text) == "done"
    assert tmux.buffers() == set()
    assert tmux.press(pane.id, "Enter") == "done"
    eventually(lambda: log.read_bytes() == text.encode() + b"\r")
    assert not list(ground.folder.rglob("tell"))


def test_a_program_that_asked_gets_brackets(ground: Ground, tmux: Tmux) -> None:
    """With bracketed paste on, a text of several lines comes as one paste."""
    pane, log = ground.record(start=BRACKETS)
    assert typed(tmux, pane.id, "one\ntwo;") == "done"
    eventually(lambda: log.read_bytes() == b"\x1b[200~one\ntwo;\x1b[201~")


def test_a_megabyte_arrives(ground: Ground, tmux: Tmux) -> None:
    """A text of 1 MiB reaches a program that reads raw bytes without a loss."""
    pane, log = ground.record()
    text = "".join(random.Random(7).choices("abc ;'\"\\$#~äß漢\n", k=700_000))
    assert typed(tmux, pane.id, text) == "done"
    eventually(lambda: log.stat().st_size >= len(text.encode()), within=30)
    assert log.read_bytes() == text.encode()


def test_a_dead_pane_takes_nothing_and_the_server_lives(ground: Ground, tmux: Tmux) -> None:
    """Paste and key into a dead pane are refused; the text is kept, and the server's other agents go on.

    Fails (the whole server dies) when the paste is not guarded in the command itself.
    """
    other, dead = ground.open(name="other"), ground.open("true", name="dead")
    server = ground.server_pid()
    eventually(lambda: ground.pane(dead).dead)
    assert typed(tmux, dead.id, "text") == "dead"
    assert tmux.press(dead.id, "Enter") == "dead"
    assert tmux.buffers() == {"fan-1"}
    assert alive(server)
    assert not ground.pane(other).dead
    tmux.drop_buffer("fan-1")
    tmux.drop_buffer("fan-1")
    assert tmux.buffers() == set()


@pytest.mark.field("B034")
def test_a_pane_in_copy_mode_takes_nothing(ground: Ground, tmux: Tmux) -> None:
    """While the person has scrolled back nothing is typed, and afterwards the whole text arrives once."""
    pane, log = ground.record()
    ground.raw("copy-mode", "-t", pane.id)
    assert tmux.looks([pane.id], 0.0)[pane.id].pane.in_mode
    assert typed(tmux, pane.id, "quit jk") == "mode"
    assert tmux.press(pane.id, "Enter") == "mode"
    assert tmux.buffers() == {"fan-1"}
    ground.raw("send-keys", "-t", pane.id, "-X", "cancel")
    assert log.read_bytes() == b""
    assert tmux.paste(pane.id, "fan-1") == "done"
    assert tmux.press(pane.id, "Enter") == "done"
    eventually(lambda: log.read_bytes() == b"quit jk\r")


def test_a_pane_that_is_gone_is_told(ground: Ground, tmux: Tmux) -> None:
    """A pane that is not there takes nothing, no other pane gets it, and the text is kept."""
    pane, log = ground.record()
    assert typed(tmux, "%99", "text") == "gone"
    assert tmux.press("%99", "Enter") == "gone"
    assert tmux.buffers() == {"fan-1"}
    assert tmux.press(pane.id, "x") == "done"
    eventually(lambda: log.read_bytes() == b"x")


def test_a_buffer_that_is_gone_is_an_error(ground: Ground, tmux: Tmux) -> None:
    """Pasting what was pasted before types nothing and says so in tmux's words."""
    pane, log = ground.record()
    assert typed(tmux, pane.id, "once") == "done"
    with pytest.raises(TmuxFailed, match="no buffer"):
        tmux.paste(pane.id, "fan-1")
    assert tmux.press(pane.id, "x") == "done"
    eventually(lambda: log.read_bytes() == b"oncex")


@pytest.mark.parametrize(
    ("key", "bytes_"),
    [
        ("Enter", b"\r"),
        ("Escape", b"\x1b"),
        ("C-u", b"\x15"),
        (";", b";"),
        ("M-Enter", b"\x1b\r"),
        ("-", b"-"),
        ("1", b"1"),
    ],
)
def test_keys_are_pressed_by_name(ground: Ground, tmux: Tmux, key: str, bytes_: bytes) -> None:
    """A named key and a single character reach the program as that key."""
    pane, log = ground.record()
    assert tmux.press(pane.id, key) == "done"
    eventually(lambda: log.read_bytes() == bytes_)


@pytest.mark.parametrize("key", ["Entr", "", "yes", "C-", "Enter Enter", "F123"])
def test_what_is_no_key_is_refused(ground: Ground, tmux: Tmux, key: str) -> None:
    """tmux would type the letters of a name that it does not know; here nothing is typed."""
    pane, log = ground.record()
    with pytest.raises(UsageError):
        tmux.press(pane.id, key)
    assert log.read_bytes() == b""


def test_the_persons_buffers_stay(ground: Ground, tmux: Tmux) -> None:
    """Pasting takes our own buffer away and no other."""
    pane, _ = ground.record()
    ground.raw("set-buffer", "-b", "mine", "precious")
    ground.raw("set-buffer", "unnamed")
    before = tmux.buffers()
    assert typed(tmux, pane.id, "text") == "done"
    assert tmux.buffers() == before
    assert ground.raw("show-buffer", "-b", "mine") == "precious"


def test_no_text_is_left_on_disk(ground: Ground, tmux: Tmux) -> None:
    """The file that carries a text to the server is gone when it was loaded."""
    ground.open()
    tmux.load("fan-1", "secret text")
    assert {path.name for path in ground.socket.parent.iterdir()} <= {"s", "sessions.lock"}
    assert ground.raw("show-buffer", "-b", "fan-1") == "secret text"


@pytest.mark.parametrize("act", [lambda tmux: tmux.load("b", "x"), lambda tmux: tmux.looks(["%0"], 0.0)])
def test_no_server_is_no_evidence_of_typing(ground: Ground, act: Callable[[Tmux], object]) -> None:
    """Without a server a load is refused as the target being gone, and a look shows nothing."""
    ground.open()
    ground.kill_server()
    try:
        assert act(ground.tmux) == {}
    except NoServer as gone:
        assert gone.code == "target_gone"
    assert ground.tmux.paste("%0", "b") == "gone"
    assert ground.tmux.press("%0", "Enter") == "gone"
