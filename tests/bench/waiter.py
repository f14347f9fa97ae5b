"""Waiters in processes that were started before: each says when it is ready, and when it came back.

Arguments: how many of them, and what they wait for: `mail`, or a member's id for its exit. One line each:
`ready PID` and, on the machine's own clock in seconds, `woken PID TIME`.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from fan.verbs import wait as verbs
from fan.world import bells, processes
from fan.world.world import open_world


def _wait(what: str) -> None:
    world = open_world(os.environ, Path.cwd())
    # What a process that has run for a while has loaded and opened already.
    assert world.caller
    assert world.store.last_event() >= 0
    assert processes.own()
    if what == "mail":
        _say(f"ready {os.getpid()}")
        verbs.mail(world, timeout=600)
    else:
        _say(f"ready {os.getpid()}")
        verbs.members(world, verbs.WaitRequest((what,), ("exited",), timeout=600))
    _say(f"woken {os.getpid()} {time.monotonic()}")


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def main() -> None:
    """Fork them, and stay until the last has ended."""
    count, what = int(sys.argv[1]), sys.argv[2]
    assert bells
    for _ in range(count):
        if os.fork() == 0:
            _wait(what)
            os._exit(0)
    for _ in range(count):
        os.wait()


if __name__ == "__main__":
    main()
