"""The two streams: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare() -> None:
    """No text that a name or an agent brings along may fail on the way out."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if stream.encoding.lower() in {"ascii", "us-ascii", "ansi_x3.4-1968"} else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def result(text: str) -> bool:
    """Print a result; `text` ends with a newline or is empty. False when nobody was there to read it whole."""
    return _write(sys.stdout, text)


def raw(data: bytes) -> None:
    """Print a result byte for byte."""
    _write(sys.stdout, "")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence()


def aside(text: str) -> None:
    """Print a line that is no result."""
    _write(sys.stderr, f"{text}\n")


def finish() -> None:
    """Hand over what is still buffered."""
    _write(sys.stdout, "")
    _write(sys.stderr, "")


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sees `stream` on a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def silence() -> None:
    """Write no more where nobody reads, not even what is buffered."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write(stream: TextIO, text: str) -> bool:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        silence()  # the verb is done and its exit code stands
        return False
    return True
