"""Texts that come from a file or from standard input."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from fan.cli.routing import LITERAL
from fan.errors import DiskFailed, TooLarge, UsageError

LARGEST = 4 * 1024 * 1024
STDIN = "-"


def worded(text: str) -> str:
    """`text`, or for `-` what standard input holds. Raises what `read_text` raises."""
    return read_text(STDIN) if text == STDIN and not LITERAL.get() else text


def read_text(where: str) -> str:
    """The UTF-8 text in the file `where`, or on standard input for `-`.

    Raises DiskFailed when it cannot be read, TooLarge above 4 MiB, UsageError when it is no UTF-8.
    """
    name = "standard input" if where == STDIN else where
    try:
        if where == STDIN and sys.stdin is None:
            raise DiskFailed("standard input is closed", not_done="nothing was done")
        if where == STDIN:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(where).open("rb") as file:
                data = file.read(LARGEST + 1)
    except OSError as error:
        look = "" if where == STDIN else f"ls -ld {shlex.quote(where)}"
        raise DiskFailed(
            f"{name} cannot be read: {error.strerror}", not_done="nothing was done", hint=look
        ) from error
    if len(data) > LARGEST:
        raise TooLarge(f"{name} has more than 4 MiB", not_done="nothing was done")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is no UTF-8 text (byte {error.start})", not_done="nothing was done") from error
