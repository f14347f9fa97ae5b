"""Tells `fan` what we are doing, as an agent's hooks would: `$FAN_BIN report STATE`."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Call:
    """One report; `payload` goes to its standard input."""

    arguments: tuple[str, ...]
    payload: str


class Reporter:
    """Sends reports one after the other, in order, and never waits for one but at the end."""

    def __init__(self, environ: Mapping[str, str], session: str, transcript: Path) -> None:
        off = environ.get("FAN_DEMO_HOOKS") == "off"
        self._program = "" if off else environ.get("FAN_BIN", "")
        self._facts = {"session_id": session, "transcript_path": str(transcript)}
        self._waiting: deque[Call] = deque()
        self._running: subprocess.Popen[bytes] | None = None
        self._deadline = 0.0
        self.trouble = ""

    def report(self, state: str, event: str, *, kind: str = "", prompt: str = "") -> None:
        """Queues a report of `state`."""
        if not self._program:
            return
        arguments = ("report", state, *(("--kind", kind) if kind else ()))
        payload = json.dumps({"event": event, "prompt": prompt, **self._facts})
        self._waiting.append(Call(arguments, payload))
        self.pump()

    def pump(self) -> None:
        """Reaps the report that has ended and starts the next."""
        if self._running and self._running.poll() is None:
            if time.monotonic() < self._deadline:
                return
            self._running.kill()
            self._running.wait()
        self._running = None
        if self._waiting:
            self._start(self._waiting.popleft())

    def drain(self, seconds: float) -> None:
        """Waits for what is queued, at most so long; the rest is dropped."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            try:
                self._running.wait(until - time.monotonic())
            except subprocess.TimeoutExpired:
                self.trouble = "a report did not end"
                return
            self.pump()

    def _start(self, call: Call) -> None:
        # A file, not a pipe: a prompt larger than a pipe's buffer would make us wait.
        with tempfile.TemporaryFile() as payload:
            payload.write(call.payload.encode("utf-8", "replace"))
            payload.seek(0)
            try:
                self._running = subprocess.Popen(
                    [self._program, *call.arguments],
                    stdin=payload,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                self.trouble, self._program = f"cannot report: {error.strerror}", ""
                self._waiting.clear()
        self._deadline = time.monotonic() + PATIENCE
