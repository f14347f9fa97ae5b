"""Who may change the sessions of a server, and when: tmux does not bear it at every moment."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from fan.errors import DiskFailed

LOCK = "sessions.lock"


@contextlib.contextmanager
def turn(socket: Path, *, connecting: bool = False) -> Iterator[None]:
    """Sessions come and go side by side, but not while a control client is `connecting`. Raises DiskFailed.

    tmux, at least up to 3.6, dies with all its sessions when it has one to tell of in the very moment in which such
    a client introduces itself.
    """
    path = socket.with_name(LOCK)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise DiskFailed(f"{path} cannot be written: {error}", not_done="no session was changed") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX if connecting else fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)
