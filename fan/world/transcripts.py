"""Agents' transcripts: files of JSON lines that grow while they are read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fan.core.compare import at
from fan.core.recipe_parts import Owner, Transcript
from fan.core.transcript import fits
from fan.errors import DiskFailed

LARGEST = 512 * 1024 * 1024
LARGEST_HEAD = 1024 * 1024


def items(file: Path, marks: Sequence[str], start: int = 0) -> Iterator[Any]:
    """What stands in those lines behind byte `start` that hold one of the `marks`, in order; a line that is no JSON
    is passed over.

    Raises DiskFailed for what is no file, cannot be read or has more than 512 MiB.
    """
    wanted = [mark.encode() for mark in marks]
    try:
        # An agent names this file: a fifo or a device in its place must neither hold us up nor feed us for ever.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as lines:
            seen = os.fstat(lines.fileno())
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > LARGEST:
                raise DiskFailed(f"{file} is no file that a transcript could be")
            lines.seek(start if start <= seen.st_size else 0)
            for line in lines:
                if any(mark in line for mark in wanted):
                    yield from _decoded(line)
    except OSError as error:
        raise DiskFailed(f"the transcript {file} cannot be read: {error.strerror}") from error


def size(file: Path) -> int:
    """How many bytes it has now; 0 where there is none."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def owned(how: Transcript, folder: Path, since: float, environ: Mapping[str, str]) -> list[tuple[Path, Any]]:
    """The transcripts of agents in `folder` that were written after `since`, the newest last, each with its first
    line."""
    if how.owner is None:
        return []
    home = environ.get("HOME", "")
    found = [(at, file) for file in _files(how.files.replace("~", home, 1)) if (at := _written(file)) >= since]
    heads = [(file, _head(file)) for _, file in sorted(found)]
    wanted = os.path.realpath(folder)
    return [(file, head) for file, head in heads if fits(head, how.owner) and _place(head, how.owner) == wanted]


def _files(pattern: str) -> list[Path]:
    import glob

    return [Path(name) for name in glob.glob(pattern)]  # noqa: PTH207 - the pattern is absolute


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _head(file: Path) -> Any:
    """Its first line; None where that is no JSON, or not there yet."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as lines:
            return next(_decoded(lines.readline(LARGEST_HEAD)), None)
    except OSError:
        return None  # it went while we looked


def _place(head: Any, owner: Owner) -> str:
    told = at(head, owner.folder)
    return os.path.realpath(told) if isinstance(told, str) else ""


def _decoded(line: bytes) -> Iterator[Any]:
    try:
        yield msgspec.json.decode(line)
    except msgspec.DecodeError:
        return  # half-written: the agent is at it
