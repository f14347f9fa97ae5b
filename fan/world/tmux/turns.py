"""Who may change the sessions of a server, and when: tmux does not bear it at every moment."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from fan.errors import Busy, DiskFailed

LOCK = "sessions.lock"
PATIENCE = 30.0
"""Seconds. A turn whose process runs lasts milliseconds, at the worst 20 s: tmux is asked twice, for 10 s each."""
SHORTEST, LONGEST = 0.001, 0.01
"""Seconds from one try to the next; they double."""


@contextlib.contextmanager
def turn(socket: Path, *, connecting: bool = False) -> Iterator[None]:
    """Sessions come and go side by side, but not while a control client is `connecting`.

    tmux, at least up to 3.6, dies with all its sessions when it has one to tell of in the very moment in which such
    a client introduces itself. So nobody goes on without a turn: whoever waits for a process that was stopped
    within its own raises Busy after `PATIENCE`, and nothing has changed. Raises DiskFailed.
    """
    path = socket.with_name(LOCK)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise DiskFailed(f"{path} cannot be written: {error}", not_done="no session was changed") from error
    try:
        _take(file, connecting=connecting)
        yield
    finally:
        os.close(file)


def _take(file: int, *, connecting: bool) -> None:
    """Tries, not a wait in the kernel, which nothing but a signal ends. Raises Busy."""
    until, pause = time.monotonic() + PATIENCE, SHORTEST
    while not _is_taken(file, fcntl.LOCK_EX if connecting else fcntl.LOCK_SH):
        if time.monotonic() >= until:
            raise _refused(file, connecting=connecting)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)
    if connecting:
        os.ftruncate(file, 0)
        os.pwrite(file, b"%d" % os.getpid(), 0)


def _is_taken(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _refused(file: int, *, connecting: bool) -> Busy:
    """Only the one that connects is known by its number; those that change sessions may be many."""
    if connecting:
        return Busy(
            f"fan's tmux server cannot be connected to: for {PATIENCE:.0f} s another fan has been changing a session;"
            " one that was stopped by Ctrl-Z has to go on first",
            not_done="nothing was typed",
            hint="fg",
        )
    pid = os.pread(file, 20, 0).decode() or "?"
    return Busy(
        f"fan's tmux server cannot be asked for it: for {PATIENCE:.0f} s process {pid} has been connecting to it;"
        " where it was stopped it has to go on first",
        not_done="no session was changed",
        hint=f"kill -CONT {pid}",
    )
