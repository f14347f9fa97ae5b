"""Locks at files, across threads and processes; whoever dies lets go of what it holds."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fan.errors import Busy, DiskFailed

PATIENCE = 120.0
_POLL = 0.01
_in_process: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@contextmanager
def held(file: Path, patience: float = PATIENCE, busy: Busy | None = None) -> Iterator[None]:
    """Holds `file`; not re-entrant. With a `patience` of 0 seconds it is tried once.

    Raises `busy` when patience is at its end, by default one that names the file; DiskFailed where it cannot be
    written.
    """
    from filelock import FileLock, Timeout

    until = time.monotonic() + patience
    # Threads do not poll for each other.
    here = _in_process[str(file)]
    if not here.acquire(timeout=patience):
        raise busy or _busy(file, patience)
    try:
        lock = FileLock(file, timeout=max(0.0, until - time.monotonic()), poll_interval=_POLL)
        try:
            lock.acquire()
        except Timeout as error:
            raise (busy or _busy(file, patience)) from error
        except (OSError, NotImplementedError) as error:
            raise DiskFailed(f"{file} cannot be locked: {error}", not_done="nothing was changed") from error
        try:
            yield
        finally:
            lock.release()
    finally:
        here.release()


def is_held(file: Path) -> bool:
    """Whether somebody holds it at this moment. Raises DiskFailed."""
    try:
        with held(file, 0):
            return False
    except Busy:
        return True


def _busy(file: Path, patience: float) -> Busy:
    return Busy(
        f"another fan has been at work here for {patience:.0f} seconds and holds {file}; once it has ended the"
        " same line can be run again",
        not_done="nothing was changed",
    )
