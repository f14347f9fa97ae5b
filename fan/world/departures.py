"""Processes that end while somebody waits: told at once by the system, where it can."""

from __future__ import annotations

import os
import select
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from fan.world import processes

ASK_EVERY = 0.5


class Departures:
    """Watches processes, each by a name of the caller's, its number and its start time."""

    def __init__(self, wanted: Mapping[str, tuple[int, float]]) -> None:
        self._wanted = dict(wanted)
        self._files: dict[str, int] = {}
        for name, (pid, _) in wanted.items():
            if (file := _opened(pid)) is not None:
                self._files[name] = file

    @property
    def files(self) -> list[int]:
        """File descriptors that become readable when one of them ends."""
        return list(self._files.values())

    @property
    def patience(self) -> float:
        """How long to wait at most before `gone` is asked again, in seconds; where the system tells, for ever."""
        return ASK_EVERY if len(self._files) < len(self._wanted) else float("inf")

    def gone(self) -> set[str]:
        """Those that have ended; each is told once."""
        ready = set(select.select(self.files, [], [], 0.0)[0])
        ended = {
            name
            for name, (pid, started) in self._wanted.items()
            if (self._files[name] in ready if name in self._files else not processes.alive(pid, started))
        }
        for name in ended:
            del self._wanted[name]
            if name in self._files:
                os.close(self._files.pop(name))
        return ended

    def __enter__(self) -> Self:
        """The numbers may have been given to others meanwhile: those are not waited for."""
        for name, (pid, started) in self._wanted.items():
            if name in self._files and not processes.alive(pid, started):
                os.close(self._files.pop(name))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            os.close(file)


def _opened(pid: int) -> int | None:
    """A descriptor of the process; None where there is none, or the system has no such thing."""
    opening = getattr(os, "pidfd_open", None)
    if opening is None or pid <= 0:
        return None
    try:
        return int(opening(pid))
    except OSError:
        return None
