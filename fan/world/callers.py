"""Who called this process: the processes above it, asked without tmux."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

import psutil

from fan.core.caller import Above, Caller, identify
from fan.core.model import Member
from fan.world.processes import GONE

DEEPEST = 64


def above() -> list[Above]:
    """All processes above this one, the nearest first; the chain ends where a sandbox hides the rest."""
    return [one for process in _parents() if (one := _seen(process))]


def find(members: Sequence[Member], environ: Mapping[str, str], agents: Collection[str]) -> Caller:
    """The caller of this process; see core.caller.identify."""
    launch = environ.get("FAN_LAUNCH", "")
    return identify(above(), members, launch, agents, terminal=_at_terminal())


def _parents() -> Iterator[psutil.Process]:
    with suppress(*GONE):
        yield from psutil.Process().parents()[:DEEPEST]


def _seen(process: psutil.Process) -> Above | None:
    with suppress(*GONE), process.oneshot():
        return Above(process.pid, process.create_time(), process.name(), tuple(process.cmdline()[:2]))
    return None


def _at_terminal() -> bool:
    """Whether any of the three streams is a terminal: a person pipes a text in, or a result away."""
    return any(_is_terminal(stream) for stream in (0, 1, 2))


def _is_terminal(stream: int) -> bool:
    try:
        return os.isatty(stream)
    except OSError:
        return False  # the stream was closed
