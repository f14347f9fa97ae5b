"""One interactive program in a real terminal: a window of a tmux server that is its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.support.wait import eventually

ROOT = Path(__file__).parents[2]
WITHIN = 20.0


def bare_environment(home: Path) -> dict[str, str]:
    """The environment of a program that must see nothing of the person who runs the tests."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }


class Terminal:
    """What a person would see and could type. All waits end within `WITHIN` seconds or fail."""

    def __init__(self, socket: Path) -> None:
        self._tmux = ["tmux", "-u", "-S", str(socket), "-f", os.devnull]
        self._environ = dict(os.environ)
        self.size = (120, 40)

    def start(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        """Runs `argv` there; the window stays when it exits."""
        self._environ = dict(env)
        columns, rows = map(str, self.size)
        self.tmux(
            *("new-session", "-d", "-x", columns, "-y", rows, "-s", "it", "-c", str(cwd), *argv),
            *(";", "set", "-g", "remain-on-exit", "on", ";", "select-pane", "-t", "it:", "-T", "host"),
        )

    def tmux(self, *arguments: str, stdin: str | None = None) -> str:
        """One call of tmux on this terminal's own server."""
        done = subprocess.run(
            [*self._tmux, *arguments],
            input=stdin,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        return done.stdout

    def ask(self, form: str) -> str:
        """A tmux format of the pane."""
        return self.tmux("display-message", "-p", "-t", "it:", form).removesuffix("\n")

    def lines(self, *, colours: bool = False) -> list[str]:
        """The visible rows, blank ones at the end removed."""
        flags = ["-e"] if colours else []
        rows = self.tmux("capture-pane", "-p", *flags, "-t", "it:").split("\n")
        while rows and not rows[-1].strip():
            rows.pop()
        return [row.rstrip(" ") for row in rows]

    def text(self) -> str:
        return "\n".join(self.lines())

    def history(self) -> str:
        """What was scrolled away too: the line that says that a pane is dead scrolls one row away."""
        return self.tmux("capture-pane", "-p", "-S", "-", "-t", "it:")

    def press(self, *keys: str) -> None:
        """Named keys, or characters."""
        self.tmux("send-keys", "-t", "it:", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-t", "it:", "-l", text)

    def paste(self, text: str) -> None:
        """As a bracketed paste where the program asked for brackets."""
        self.tmux(
            "load-buffer", "-b", "p", "-", ";", "paste-buffer", "-d", "-p", "-r", "-b", "p", "-t", "it:", stdin=text
        )

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-t", "it:", "-x", str(columns), "-y", str(rows))

    def shows(self, text: str) -> None:
        """Waits until `text` is on the screen."""
        self._until(lambda: text in self.text(), f"{text!r} is not there")

    def shows_no(self, text: str) -> None:
        """Waits until `text` is not on the screen."""
        self._until(lambda: text not in self.text(), f"{text!r} is still there")

    def shows_rows(self, row: str, *, count: int) -> None:
        """Waits until exactly so many rows are `row`."""
        self._until(lambda: self.lines().count(row) == count, f"not {count} rows are {row!r}")

    def _until(self, condition: Callable[[], bool], why: str) -> None:
        try:
            eventually(condition, within=WITHIN)
        except AssertionError as late:
            raise AssertionError(f"{why}:\n{self.text()}") from late

    def exit_code(self) -> int:
        """Waits until the program has exited."""
        self._until(lambda: self.ask("#{pane_dead}") == "1", "it has not exited")
        # tmux 3.3a may miss that its child has died until another one does: here, that of run-shell.
        self._until(lambda: bool(self.tmux("run-shell", "true") or self.ask("#{pane_dead_status}")), "no code")
        return int(self.ask("#{pane_dead_status}"))

    def hang_up(self) -> None:
        """Takes the terminal away from under the program."""
        server = int(self.ask("#{pid}"))
        self.tmux("kill-server")
        eventually(lambda: not psutil.pid_exists(server), within=WITHIN)


@contextmanager
def open_terminal() -> Iterator[Terminal]:
    """A terminal; its server is ended, by its own socket, and nothing of it is left."""
    folder = Path(tempfile.mkdtemp(prefix="fan-t-", dir="/tmp"))
    terminal = Terminal(folder / "s")
    try:
        yield terminal
    finally:
        if (folder / "s").exists():
            subprocess.run(["tmux", "-S", str(folder / "s"), "kill-server"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)
