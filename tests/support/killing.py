"""Runs `fan` in a process that kills itself right before its n-th effect, without a word of it in `fan`.

An effect is what another process could see: a file made, moved or deleted below the home of the test, a commit of
SQLite's, a signal, a git or tmux that changes something (before it is started, and again right after: it then goes
on alone). They are found by Python's own audit events, so a step that is new in `fan` is a new point here by itself.

`python -m tests.support.killing` has everything imported and forks for each command line it is sent.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.cli import ROOT, Fan

MADE = ("os.mkdir",)
PATHS = (*MADE, "os.rename", "os.remove", "os.rmdir")
QUIET = (".lock", ".sqlite3", "/bell")
GIT_READS = frozenset(
    "rev-parse status for-each-ref config cat-file rev-list log ls-files symbolic-ref check-ref-format version "
    "reflog ls-tree".split()
)
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

    def run(
        self, *words: str, cwd: Path, before: int | None = None, env: Mapping[str, str] | None = None
    ) -> Ended:
        """Run one line, killed before effect number `before` (from 0) if it comes so far."""
        assert self._process.stdin
        assert self._process.stdout
        request = {"words": words, "cwd": str(cwd), "env": self._fan.env | dict(env or {}), "before": before}
        self._process.stdin.write(json.dumps(request | {"root": str(self._fan.folder)}) + "\n")
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

    def __init__(self, root: str, before: int | None, trace: int) -> None:
        self._root, self._before, self._trace = root, before, trace
        self._passed = 0

    def point(self, name: str) -> None:
        os.write(self._trace, f"{name}\n".encode(errors="replace"))
        if self._passed == self._before:
            os.kill(os.getpid(), signal.SIGKILL)
        self._passed += 1

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event of Python's."""
        if event == "subprocess.Popen" and _changes(arguments[1]):
            self.point(f"before {_shown(arguments[1])}")
        elif event == "os.kill" and arguments[0] != os.getpid() and arguments[1]:
            self.point(f"signal {arguments[1]}")
        elif event in PATHS and self._ours(arguments[0]) and os.path.lexists(arguments[0]) is (event not in MADE):
            self.point(f"{event} {self._short(arguments[0])}")
        elif event == "open" and isinstance(arguments[2], int) and self._ours(arguments[0]):
            writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and not os.fsdecode(arguments[0]).endswith(QUIET) and not os.path.isdir(arguments[0]):
                self.point(f"open {self._short(arguments[0])}")

    def watch(self) -> None:
        """Points that Python does not tell of: each commit, and right after a process that changes was started."""
        begin, connect = subprocess.Popen.__init__, sqlite3.connect

        def begun(process: Any, args: Any, *more: Any, **named: Any) -> None:
            begin(process, args, *more, **named)
            if _changes(args):
                self.point(f"beside {_shown(args)}")

        def connected(*arguments: Any, **named: Any) -> sqlite3.Connection:
            db = connect(*arguments, **named)
            db.set_trace_callback(self._statement)
            return db

        subprocess.Popen.__init__ = begun  # type: ignore[method-assign]
        sqlite3.connect = connected
        sys.addaudithook(self.heard)

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
    return verbs[0] not in GIT_READS and verbs[:2] != ["worktree", "list"]


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


def _child(request: dict[str, Any], files: list[Any]) -> None:
    from fan.cli.app import run

    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number, file in enumerate(files[:2], start=1):
        os.dup2(file.fileno(), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    points = _Points(request["root"], request["before"], files[2].fileno())
    points.watch()
    code = run(request["words"])
    points.point("end")
    sys.stdout.flush()
    os._exit(code)


def _serve(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as trace:
        files = [out, err, trace]
        child = os.fork()
        if not child:
            try:
                _child(request, files)
            except BaseException:
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
    import fan.cli.app
    import fan.courier.start
    import fan.world.git
    import fan.world.store.records
    import fan.world.tmux  # noqa: F401 - each run would import them anew

    for line in sys.stdin:
        print(json.dumps(_serve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
