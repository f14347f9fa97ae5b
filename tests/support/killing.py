"""Runs `fan` in a process that kills itself right before its n-th effect, without a word of it in `fan`.

An effect is what another process could see: a file made, moved or deleted below the home of the test, a commit of
SQLite's, a signal, a git or tmux that changes something (before it is started, and again right after: it then goes
on alone). They are found by Python's own audit events, so a step that is new in `fan` is a new point here by itself.

`python -m tests.support.killing` has everything imported and forks for each command line it is sent.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fan.verbs.keep
import fan.verbs.remove
import fan.verbs.send
import fan.verbs.start
import fan.verbs.undo  # noqa: F401 - each run would import them anew
from fan.cli import app
from fan.core.standing import pending
from fan.courier.loop import Courier
from fan.errors import TmuxFailed
from fan.world.tmux.control import ControlTransport
from fan.world.tmux.transport import Output
from fan.world.world import open_world
from tests.support.cli import ROOT, Fan

MADE = ("os.mkdir",)
PATHS = (*MADE, "os.rename", "os.remove", "os.rmdir")
QUIET = (".lock", ".sqlite3", "bell")
COPIES = re.compile(r"/(admin\.part|fan\.restore-[^/]*)/")
"""A folder that is being copied gets its name when it is complete; its first file stands for all."""
GIT_READS = """
    rev-parse status for-each-ref config cat-file rev-list log ls-files symbolic-ref check-ref-format version reflog
    ls-tree diff diff-tree merge-base
"""
TYPED = ("load-buffer", "paste-buffer", "send-keys", "delete-buffer")
TMUX_CHANGES = ("new-session", "kill-session", "rename-session", "load-buffer", "start-server", "set-option")


@dataclass(frozen=True)
class Ended:
    """How one run ended; `points` are the effects it came to, the last one not taken where it was `killed`."""

    killed: bool
    code: int
    out: str
    err: str
    points: list[str]

    @property
    def json(self) -> Any:
        """Standard output as the one JSON value it must be."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The code of the refusal on standard output, or nothing."""
        return str(self.json["error"]["code"]) if self.code and "error" in self.json else ""


class Killing:
    """Command lines of one `fan`, in processes that die where they are told to."""

    def __init__(self, fan: Fan, process: subprocess.Popen[str]) -> None:
        self._fan = fan
        self._process = process

    def run(self, *words: str, cwd: Path, before: int | None = None) -> Ended:
        """Run one line, killed before effect number `before` (from 0) if it comes so far."""
        return self._ask({"words": words, "cwd": str(cwd), "before": before})

    def courier(self, *, cwd: Path, before: int | None = None, fail: bool = False) -> Ended:
        """Be the courier until nothing is pending; with `fail` tmux fails there instead, and it looks again."""
        return self._ask({"words": None, "cwd": str(cwd), "before": before, "fail": fail})

    def _ask(self, request: dict[str, Any]) -> Ended:
        assert self._process.stdin
        assert self._process.stdout
        request |= {"env": self._fan.env, "root": str(self._fan.folder)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Ended(**answer)


@contextmanager
def killing(fan: Fan) -> Iterator[Killing]:
    """A Killing for this `fan`, ended with the test."""
    command = [sys.executable, "-P", "-m", "tests.support.killing"]
    # Not known by its state folder: only its children are processes of `fan`.
    env = {name: value for name, value in fan.env.items() if not name.startswith("FAN_")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        yield Killing(fan, process)


class _Points:
    """Counts effects below `root`, and ends the process before the wanted one."""

    def __init__(self, root: str, before: int | None, trace: int, *, fail: bool) -> None:
        self._root, self._before, self._trace, self._fail = root, before, trace, fail
        self._passed = 0

    def point(self, name: str) -> None:
        os.write(self._trace, f"{name}\n".encode(errors="replace"))
        self._passed += 1
        if self._passed - 1 == self._before:
            if self._fail:
                raise TmuxFailed("tmux did not answer")
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event of Python's."""
        if event == "subprocess.Popen" and _changes(arguments[1]):
            self.point(f"before {_shown(arguments[1])}")
        elif event == "os.kill" and arguments[0] != os.getpid() and arguments[1]:
            self.point(f"signal {arguments[1]}")
        elif event in PATHS and self._ours(arguments[0]) and os.path.lexists(arguments[0]) is (event not in MADE):
            self.point(f"{event} {self._short(arguments[0])}")
        elif event == "open" and isinstance(arguments[2], int) and self._ours(arguments[0]):
            writes, path = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT), Path(os.fsdecode(arguments[0]))
            if writes and not path.name.endswith(QUIET) and not path.is_dir() and not COPIES.search(str(path)):
                self.point(f"open {self._short(arguments[0])}")

    def watch(self) -> None:
        """Points that Python does not tell of: each commit, and right after a process that changes was started."""
        begin, connect = subprocess.Popen.__init__, sqlite3.connect

        def begun(process: Any, args: Any, *more: Any, **named: Any) -> None:
            begin(process, args, *more, **named)
            if _changes(args):
                self.point(f"beside {_shown(args)}")

        def connected(*arguments: Any, **named: Any) -> sqlite3.Connection:
            db: sqlite3.Connection = connect(*arguments, **named)
            db.set_trace_callback(self._statement)
            return db

        subprocess.Popen.__init__ = begun  # type: ignore[method-assign, assignment]
        sqlite3.connect = connected  # type: ignore[assignment]
        sys.addaudithook(self.heard)

    def watch_connection(self) -> None:
        """Points around what is told to tmux over a lasting connection."""
        run = ControlTransport.run

        def told(transport: ControlTransport, commands: Any) -> list[Output]:
            words = " ".join(word for command in commands for word in command)
            typed = next((change for change in TYPED if change in words), None)
            if typed is None:
                return run(transport, commands)
            self.point(f"before {typed}")
            answer = run(transport, commands)
            self.point(f"after {typed}")
            return answer

        ControlTransport.run = told  # type: ignore[method-assign, assignment]

    def _statement(self, text: str) -> None:
        if text == "COMMIT":
            self.point("COMMIT")

    def _ours(self, path: object) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(self._root)

    def _short(self, path: Any) -> str:
        return os.fsdecode(path).removeprefix(self._root)


def _changes(argv: Any) -> bool:
    words = [str(word) for word in argv] if isinstance(argv, list | tuple) else []
    if words[:1] and words[0].endswith("tmux"):
        return any(change in " ".join(words) for change in TMUX_CHANGES)
    if words[:1] != ["git"]:
        return False
    verbs = _verbs(words)
    return verbs[0] not in GIT_READS.split() and verbs[:2] != ["worktree", "list"]


def _verbs(words: list[str]) -> list[str]:
    """git's own words, without the options that lead."""
    rest = iter(words[1:])
    found = []
    for word in rest:
        if word == "-c":
            next(rest)
        elif not word.startswith("-"):
            found.append(word)
    return found or [""]


def _shown(argv: list[str]) -> str:
    if argv[0] == "git":
        verbs = _verbs(argv)
        return f"git {' '.join(verbs[: 2 if verbs[0] in ('worktree', 'hook') else 1])}"
    return "tmux " + next(change for change in TMUX_CHANGES if change in " ".join(argv))


def _child(request: dict[str, Any], files: list[Any]) -> int:
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number, file in enumerate(files[:2], start=1):
        os.dup2(file.fileno(), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    fail = request.get("fail", False)
    points = _Points(request["root"], request["before"], files[2].fileno(), fail=fail)
    if not fail:
        points.watch()
    if request["words"] is None:
        points.watch_connection()
        code = _be_courier()
    else:
        code = app.run(request["words"])
    points.point("end")
    sys.stdout.flush()
    return code


def _be_courier() -> int:
    """The courier's loop without its life: until nothing is pending, at most half a minute."""
    world = open_world(os.environ, Path("/"))
    until = world.clock.now() + 30
    courier: Courier | None = None
    while pending(world.store.open_deliveries()) and world.clock.now() < until:
        try:
            courier = courier or Courier(world, world.tmux.watch())
            world.clock.pause(min(courier.tick(), 0.1))
        except TmuxFailed:
            courier = None
    return 0 if world.clock.now() < until else 1


def _serve(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as trace:
        files = [out, err, trace]
        child = os.fork()
        if not child:
            try:
                os._exit(_child(request, files))
            except BaseException:  # noqa: BLE001 - told to the test that asked
                traceback.print_exc()
                os._exit(99)
        status = os.waitpid(child, 0)[1]
        texts = []
        for file in files:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    code = os.waitstatus_to_exitcode(status)
    return {"killed": code == -9, "code": code, "out": texts[0], "err": texts[1], "points": texts[2].splitlines()}


def main() -> None:
    """Serve one line of JSON after the other until there is no more."""
    for line in sys.stdin:
        print(json.dumps(_serve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
