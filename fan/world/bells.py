"""How one process wakes another at once: a fifo for each waiter, rung by whoever has put something on record."""

from __future__ import annotations

import errno
import itertools
import os
import select
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from fan.world.files import private_folder
from fan.world.store.reports import ring as ring_fifo

FOLDER = "waiters"
_NUMBERS = itertools.count()


def of_inbox(address: str) -> str:
    """The topic of mail for this inbox."""
    return f"mail-{address}"


def of_member(member_id: str) -> str:
    """The topic of a member's states and deliveries."""
    return f"member-{member_id}"


EVENTS = "events"
"""The topic of everything."""


class Bells:
    """The fifos of one waiter, one a topic. Made before the record is looked at, so that no ring falls between."""

    def __init__(self, runtime: Path, topics: Iterable[str]) -> None:
        self._folder = private_folder(private_folder(runtime) / FOLDER)
        number = next(_NUMBERS)  # two waiters of one process may wait for the same
        self._paths = [self._folder / f"{topic}.{number}.{os.getpid()}" for topic in dict.fromkeys(topics)]
        self._fifos = [_opened(path) for path in self._paths]

    def wait(self, seconds: float, *others: int) -> bool:
        """Whether somebody rang within this time, or one of the `others` (file descriptors) became readable."""
        ready, _, _ = select.select([*self._fifos, *others], [], [], max(seconds, 0.0))
        for fifo in ready:
            if fifo in self._fifos:
                os.read(fifo, 4096)
        return bool(ready)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path, fifo in zip(self._paths, self._fifos, strict=True):
            path.unlink(missing_ok=True)
            os.close(fifo)


def of_courier(path: Path) -> int:
    """The fifo that reports and verbs ring, opened; one that is there stays, for it may have been rung."""
    private_folder(path.parent)
    return _open_both_ways(path) if path.is_fifo() else _opened(path)


def ring(runtime: Path, topics: Iterable[str]) -> None:
    """Wake whoever waits for one of these topics, or for everything."""
    wanted = {*topics, EVENTS}
    for name in _names(runtime / FOLDER):
        if name.rsplit(".", 2)[0] in wanted:
            ring_fifo(str(runtime / FOLDER / name))


def sweep(runtime: Path, before: float) -> None:
    """Take away the fifos touched `before` (seconds since the epoch) that nobody has open: their waiter was killed.

    A process number would say less: in a sandbox it is another one than here.
    """
    for name in _names(runtime / FOLDER):
        path = runtime / FOLDER / name
        with suppress(FileNotFoundError):  # its waiter has just left
            if path.stat().st_mtime < before and not _is_open(path):
                path.unlink()


def _is_open(path: Path) -> bool:
    """Whether somebody would read what is written to this fifo. Raises FileNotFoundError."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    return True


def _opened(path: Path) -> int:
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    return _open_both_ways(path)


def _open_both_ways(path: Path) -> int:
    """So that it never ends."""
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone, a hundred of them at each message
    except FileNotFoundError:
        return []
