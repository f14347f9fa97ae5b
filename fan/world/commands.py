"""Runs a command of the person's, a check or a setup step: output into a file, its process group ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fan.errors import DiskFailed, Interrupted, NotFound, TimedOut, TooLarge, ToolMissing
from fan.world.files import is_folder, must_see, private_folder

LARGEST_LOG = 256 * 1024 * 1024
LOOK_EVERY = 0.1
GRACE = 3.0
NEWEST = 4096
"""Bytes at the end of the output that the newest line is looked for in."""


def run(
    command: str | Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    timeout: float | None = None,
    on_line: Callable[[str], None] = lambda _line: None,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """The exit code of a program with its arguments, or of a line for the shell; 128 + n when signal n ended it.

    It gets no input and no terminal. What it prints is appended to the private file `log`; `on_line` is told the
    newest line, at most ten times a second. What it leaves running in its process group ends with it.
    Raises TimedOut after `timeout` seconds, Interrupted once `stopped` says so, TooLarge when it prints more than
    256 MiB: it was then ended. Raises NotFound, ToolMissing or DiskFailed when it cannot be started.
    """
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    tail = _Tail(log, on_line)
    process = _started(words, cwd, env, log)
    try:
        code = _wait(process, tail, timeout, stopped)
    finally:
        _end(process)
    tail.look()
    return code if code >= 0 else 128 - code


def said(
    words: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> str:
    """What a program prints, whatever it then says by its exit code. Raises what `run` raises."""
    from tempfile import TemporaryDirectory

    try:
        with TemporaryDirectory(prefix="fan-said-") as folder:
            log = Path(folder) / "said"
            run(words, cwd, env, log, timeout, stopped=stopped)
            return log.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DiskFailed(f"there is no room for a temporary file: {error}", not_done="it was not run") from error


def last_lines(log: Path, most: int) -> list[str]:
    """The last lines of a log, at most `most` and 64 KiB; none when it is gone."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 65_536))
            return file.read().decode("utf-8", "replace").splitlines()[-most:]
    except OSError:
        return []  # a swept log has no lines; its path says where it was


class _Tail:
    """Tells the newest complete line of a growing file."""

    def __init__(self, log: Path, on_line: Callable[[str], None]) -> None:
        self._log = log
        self._on_line = on_line
        self.start = self.seen = log.stat().st_size if log.exists() else 0

    def look(self) -> None:
        """Tell the newest line, if there is one that was not told."""
        size = self._log.stat().st_size
        if size <= self.seen:
            return
        with self._log.open("rb") as file:
            file.seek(max(self.seen, size - NEWEST))
            text = file.read(size - file.tell()).decode("utf-8", "replace")
        self.seen = size
        lines = [line for line in text.replace("\r", "\n").splitlines() if line.strip()]
        if lines:
            self._on_line(lines[-1])


def _started(words: Sequence[str], cwd: Path, env: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    private_folder(log.parent)
    try:
        sink = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise DiskFailed(f"{log} cannot be written: {error.strerror}", not_done=f"{words[-1]} was not run") from error
    try:
        return subprocess.Popen(
            words, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True
        )
    except OSError as error:
        must_see(cwd, f"{words[-1]} was not run")
        if not is_folder(cwd):
            raise NotFound(f"the folder {cwd} does not exist", not_done=f"{words[-1]} was not run") from error
        raise ToolMissing(f"{words[0]} cannot be run: {error.strerror}", not_done="it was not run") from error
    finally:
        os.close(sink)


def _wait(process: subprocess.Popen[bytes], tail: _Tail, timeout: float | None, stopped: Callable[[], bool]) -> int:
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK_EVERY)
        tail.look()
        if stopped():
            raise Interrupted("interrupted")
        if until is not None and time.monotonic() >= until:
            raise TimedOut(f"it did not end within {timeout:g} seconds and was ended")
        if tail.seen - tail.start > LARGEST_LOG:
            raise TooLarge(f"it printed more than {LARGEST_LOG // 2**20} MiB and was ended")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the group: at once what the ended command left behind, asking first where it still runs."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], what: signal.Signals) -> None:
    # macOS says PermissionError for a group of which only a zombie is left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, what)
