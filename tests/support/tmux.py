"""A tmux server of a test's own, on a private socket; what the test started is gone when it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import psutil
import pytest

from fan.core.model import Pane
from fan.world.tmux import Tmux
from tests.support.wait import eventually

RECORDER = """
import os, sys, tty
tty.setraw(0)
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(1, sys.argv[2].encode().decode("unicode_escape").encode() + b"ready")
while data := os.read(0, 65536):
    os.write(out, data)
"""
"""Writes every byte that it is typed to a file; its second argument may turn bracketed paste on."""


class Ground:
    """One socket, one Tmux on it, and a few short hands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "run" / "s"
        self.home = folder / "home"
        self.home.mkdir()
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.tmux = Tmux(self.socket, self.environ)

    def open(
        self,
        *argv: str,
        name: str = "one",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        held: Path | None = None,
    ) -> Pane:
        """A member's session; the member's id is the name asked for."""
        return self.tmux.open_session(
            name,
            cwd or self.folder,
            argv or ("cat",),
            self.environ if env is None else env,
            member=name,
            launch="launch-1",
            group="group-1",
            held=held,
        )

    def record(self, *, name: str = "one", start: str = "", tmux: Tmux | None = None) -> tuple[Pane, Path]:
        """A pane that records what is typed, once it is ready, and its file."""
        log = self.folder / f"{name}.log"
        pane = self.open(sys.executable, "-c", RECORDER, str(log), start, name=name)
        eventually(lambda: "ready" in self.text(pane, tmux))
        return pane, log

    def text(self, pane: Pane, tmux: Tmux | None = None) -> str:
        """The pane's screen as one text, empty when it is not there."""
        look = (tmux or self.tmux).looks([pane.id], 0.0).get(pane.id)
        return "" if look is None else "\n".join(line.text for line in look.lines).strip()

    def pane(self, pane: Pane) -> Pane:
        """The pane as it is now."""
        return next(found for found in self.tmux.panes() if found.id == pane.id)

    def has_session(self, name: str) -> bool:
        """Whether a session of exactly this name is there."""
        return name in self.raw("list-sessions", "-F", "#{session_name}").splitlines()

    def clients(self, pane: Pane) -> int:
        """How many terminals show the pane's session."""
        return int(self.raw("display-message", "-p", "-t", pane.id, "#{session_attached}"))

    def raw(self, *words: str) -> str:
        """What tmux itself says on this socket."""
        command = ["tmux", "-u", "-S", str(self.socket), "-f", "/dev/null", "-N", *words]
        done = subprocess.run(command, env=self.environ, capture_output=True, text=True, timeout=10, check=False)
        return done.stdout.strip()

    def server_pid(self) -> int:
        """The process of this socket's server, 0 when there is none."""
        return int(self.raw("display-message", "-p", "#{pid}") or 0)

    def kill_server(self) -> None:
        """End this socket's server and wait until it and its panes' processes are gone."""
        server = self.server_pid()
        panes = [int(pid) for pid in self.raw("list-panes", "-a", "-F", "#{pane_pid}").split()]
        self.raw("kill-server")
        for pid in (server, *panes):
            eventually(partial(gone, pid))


@contextlib.contextmanager
def ground() -> Iterator[Ground]:
    """A Ground in a short folder, ended whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix="fan-t-", dir="/tmp")).resolve()
    made = Ground(folder)
    try:
        yield made
    finally:
        made.kill_server()
        shutil.rmtree(folder)


@pytest.fixture(name="ground")
def ground_fixture() -> Iterator[Ground]:
    """A tmux server of the test's own."""
    with ground() as made:
        yield made


@pytest.fixture
def tmux_socket(ground: Ground) -> Path:
    """The path of a private socket; a server there is ended with the test."""
    return ground.socket


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return pid > 0 and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pid: int) -> bool:
    """The opposite of `alive`."""
    return not alive(pid)


class Terminal:
    """A person's terminal of a given size, running one command."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str], width: int, height: int) -> None:
        self.seen = b""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self._process = subprocess.Popen(
            argv,
            env={**environ, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._ours = ours
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def ended(self) -> bool:
        """Whether the command has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """Close the terminal as a crash would."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        self._process.wait(5)
        self._reader.join(5)
        os.close(self._ours)

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._ours, 65536):
                self.seen += data


@contextlib.contextmanager
def terminal(
    argv: Sequence[str], environ: Mapping[str, str], *, width: int = 80, height: int = 24
) -> Iterator[Terminal]:
    """A Terminal, closed at the end."""
    made = Terminal(argv, environ, width, height)
    try:
        yield made
    finally:
        made.kill()
