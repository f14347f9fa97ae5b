"""Locks across threads and processes: one per repository, one for removals."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from fan.errors import Busy, DiskFailed

PATIENCE = 120.0
_POLL = 0.01
_in_process: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


def repository_lock(common_dir: Path, patience: float = PATIENCE) -> AbstractContextManager[None]:
    """Holds `fan.lock` in the common git folder; as `file_lock`."""
    return file_lock(common_dir / "fan.lock", patience)


@contextmanager
def file_lock(file: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Holds `file` across threads and processes; not re-entrant.

    Raises Busy naming the file after `patience` seconds, DiskFailed where it cannot be written.
    """
    from filelock import FileLock, Timeout

    until = time.monotonic() + patience
    if not _in_process[file].acquire(timeout=patience):
        raise _busy(file, patience)
    try:
        lock = FileLock(file, timeout=max(0.0, until - time.monotonic()), poll_interval=_POLL)
        try:
            lock.acquire()
        except Timeout as error:
            raise _busy(file, patience) from error
        except (OSError, NotImplementedError) as error:
            raise DiskFailed(f"cannot lock {file}: {error}", not_done="nothing was changed") from error
        try:
            yield
        finally:
            lock.release()
    finally:
        _in_process[file].release()


def _busy(file: Path, patience: float) -> Busy:
    return Busy(
        f"another fan has been at work here for {patience:.0f} seconds and holds {file}",
        not_done="nothing was changed",
        hint="wait for it to end, then run the same line again",
    )
