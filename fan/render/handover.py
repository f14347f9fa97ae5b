"""Results that count as received only once their reader has them."""

from __future__ import annotations

import fcntl
import os
import select
import stat
import sys
import termios
import time
from array import array

from fan.render import output

TAKEN_WITHIN = 2.0
DRAIN_EVERY = 2
"""Milliseconds between two looks into a pipe that is being read."""


def taken(text: str) -> bool:
    """Print a result; whether whoever reads it has got it whole: what lies in a pipe when its reader goes is lost.

    A reader that lets it lie, such as a pager, is waited for up to two seconds.
    """
    return output.result(text) and is_drained(sys.stdout.fileno())


def is_drained(file: int) -> bool:
    """Whether a pipe has been read empty; no other stream keeps anything back."""
    if not stat.S_ISFIFO(os.fstat(file).st_mode):
        return True
    left, reader = array("i", [0]), select.poll()
    reader.register(file, 0)
    until = time.monotonic() + TAKEN_WITHIN
    while time.monotonic() < until:
        fcntl.ioctl(file, termios.FIONREAD, left)
        if not left[0] or reader.poll(DRAIN_EVERY):
            break  # all of it was read, or nobody will
    return not left[0]
