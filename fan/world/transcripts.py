"""Agents' transcripts: files of JSON lines that grow while they are read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fan.errors import DiskFailed

LARGEST = 512 * 1024 * 1024


def items(file: Path, marks: Sequence[str]) -> Iterator[Any]:
    """What stands in those lines that hold one of the `marks`, in order; a line that is no JSON is passed over.

    Raises DiskFailed for what is no file, cannot be read or has more than 512 MiB.
    """
    wanted = [mark.encode() for mark in marks]
    try:
        # An agent names this file: a fifo or a device in its place must neither hold us up nor feed us for ever.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as lines:
            seen = os.fstat(lines.fileno())
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > LARGEST:
                raise DiskFailed(f"{file} is no file that a transcript could be")
            for line in lines:
                if any(mark in line for mark in wanted):
                    yield from _decoded(line)
    except OSError as error:
        raise DiskFailed(f"the transcript {file} cannot be read: {error.strerror}") from error


def _decoded(line: bytes) -> Iterator[Any]:
    try:
        yield msgspec.json.decode(line)
    except msgspec.DecodeError:
        return  # half-written: the agent is at it
