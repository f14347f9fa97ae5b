"""The whole command as a person or a script runs it, in a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.repos import RepoBuilder
from tests.support.wait import eventually

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-P", "-m", "fan")


@dataclass(frozen=True)
class Result:
    """How one call ended: exit code and the two streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON value it must be."""
        return json.loads(self.out)


class Fan:
    """`fan` with all its folders below one short path; `repos` makes repositories in its home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = folder / "home"
        home.mkdir()
        self.repos = RepoBuilder(home)
        self.state, self.config = folder / "s", folder / "c"
        self.runtime, self.worktrees = folder / "r", folder / "w"
        self.env = self.repos.environ | {
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "FAN_STATE_DIR": str(self.state),
            "FAN_WORKTREE_DIR": str(self.worktrees),
            "FAN_CONFIG_DIR": str(self.config),
            "FAN_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }

    def run(
        self,
        *words: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        timeout: float = 60,
    ) -> Result:
        """Run one command line to its end, in the home folder unless told otherwise."""
        done = subprocess.run(
            [*PROGRAM, *words],
            cwd=cwd or self.repos.home,
            env=self.env | dict(env or {}),
            input=stdin.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    def processes(self) -> list[psutil.Process]:
        """Every living process that was started with our state folder."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def end(self) -> None:
        """End this home's tmux server; every process of ours must then go by itself."""
        self._end_server()
        try:
            eventually(lambda: not self.processes(), within=10)
        finally:
            for process in self.processes():
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def _end_server(self) -> None:
        socket = self.runtime / "tmux"
        command = ["tmux", "-S", str(socket), "-f", "/dev/null", "-N", "display-message", "-p", "#{pid}"]
        answer = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=10, check=False)
        if not answer.returncode:
            with suppress(psutil.NoSuchProcess):
                server = psutil.Process(int(answer.stdout))
                server.terminate()
                self._wait_for(server)

    def _wait_for(self, server: psutil.Process) -> None:
        """tmux 3.3a waits for ever on a control client whose reader died first: end such clients of this socket."""
        try:
            server.wait(2)
        except psutil.TimeoutExpired:
            for process in psutil.process_iter(["cmdline"]):
                if str(self.runtime / "tmux") in (process.info["cmdline"] or ()) and process != server:
                    process.terminate()
            server.wait(10)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("FAN_STATE_DIR") == str(self.state)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            return False


@contextmanager
def at_home(prefix: str, top: str) -> Iterator[Fan]:
    """`fan` in a new folder below `top`; nothing that it started outlives the block."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=os.path.realpath(top)))
    made = Fan(folder)
    try:
        yield made
    finally:
        try:
            made.end()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fan() -> Iterator[Fan]:
    """`fan` in a home of the test's own."""
    with at_home("fan-e-", "/tmp") as made:
        yield made
