"""The two streams: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

from fan.errors import DiskFailed


def prepare() -> None:
    """No text that a name or an agent brings along may fail on the way out; a closed stream is there, and refuses."""
    sys.stdout = sys.stdout or _refusing(1)
    sys.stderr = sys.stderr or _refusing(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if stream.encoding.lower() in {"ascii", "us-ascii", "ansi_x3.4-1968"} else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def result(text: str) -> bool:
    """Print a result; `text` ends with a newline or is empty. False when nobody was there to read it whole.

    Raises DiskFailed when it cannot be written.
    """
    return _is_written(lambda: sys.stdout.write(text))


def raw(data: bytes) -> None:
    """Print a result byte for byte. Raises DiskFailed."""
    _is_written(lambda: sys.stdout.buffer.write(data))


def aside(text: str) -> None:
    """Print a line that is no result; where it cannot be written, there is nowhere left to say so."""
    _is_told(lambda: sys.stderr.write(f"{text}\n"))


def raw_aside(data: bytes) -> None:
    """The same, byte for byte."""
    _is_told(lambda: sys.stderr.buffer.write(data))


def finish() -> None:
    """Hand over what is still buffered. Raises DiskFailed."""
    _is_written(lambda: None)


def refused(error: OSError) -> DiskFailed | None:
    """What to tell when `error` came from standard output, whoever wrote to it; None when it did not."""
    try:
        sys.stdout.flush()
    except OSError:
        return _unwritten(error)
    return None


def is_left() -> bool:
    """Whether whoever read standard output has left; nothing more is written there then."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
        return True
    return False


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sees `stream` on a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def silence() -> None:
    """Write no more where nobody reads, not even what is buffered."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_written(write: Callable[[], object]) -> bool:
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        silence()  # the verb is done and its exit code stands
        return False
    except OSError as error:
        raise _unwritten(error) from error
    return True


def _is_told(write: Callable[[], object]) -> None:
    try:
        write()
        sys.stderr.flush()
    except OSError:
        silence()


def _unwritten(error: OSError) -> DiskFailed:
    """Drop what is still buffered, and have whatever follows be refused as well."""
    silence()
    sys.stdout.flush()
    sys.stdout = _refusing(1)
    return DiskFailed(
        f"the result cannot be written to standard output: {error.strerror}",
        not_done="the result was not written out; what was asked for is done",
    )


def _refusing(number: int) -> TextIO:
    """A stream at this file descriptor that takes nothing, in the place of one that is closed or full."""
    handle = os.open(os.devnull, os.O_RDONLY)
    if handle != number:
        os.dup2(handle, number)
        os.close(handle)
    return open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
