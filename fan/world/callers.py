"""Who called this process: the processes above it, asked without tmux."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

import psutil

from fan.core.caller import LAUNCH, Above, Caller, identify
from fan.core.model import Member
from fan.world.processes import GONE

DEEPEST = 64


def find(members: Sequence[Member], environ: Mapping[str, str], agents: Collection[str]) -> Caller:
    """The caller of this process; see core.caller.identify."""
    above = list(_above())
    seen = [one for process in above if (one := _seen(process))]
    named = next((found for process in above if (found := _launch(process))), "")
    launch = environ.get(LAUNCH) or named or environ.get("FAN_MEMBER", "")
    return identify(seen, members, launch, agents, terminal=_at_terminal())


def _above() -> Iterator[psutil.Process]:
    """All processes above this one, the nearest first; the chain ends where a sandbox hides the rest.

    The leader of our session comes last: whoever goes on in the background of a pane has no other tie to it.
    """
    with suppress(*GONE):
        yield from psutil.Process().parents()[:DEEPEST]
    leader = os.getsid(0)
    if leader not in (0, 1, os.getpid()):
        with suppress(*GONE):
            yield psutil.Process(leader)


def _launch(process: psutil.Process) -> str:
    """The launch that this process was started with, whatever those below it took out of their environment."""
    with suppress(*GONE, OSError):
        return process.environ().get(LAUNCH, "")
    return ""


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
