"""Drives programs in the panes of a tmux server of one's own: start, wait for a text, press, paste, capture."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from tests.support.wait import eventually

FIELDS = {
    "title": "pane_title",
    "command": "pane_current_command",
    "x": "cursor_x",
    "y": "cursor_y",
    "shown": "cursor_flag",
    "alternate": "alternate_on",
    "dead": "pane_dead",
    "width": "pane_width",
    "height": "pane_height",
}
SEPARATOR = "\x1e"
FORMAT = SEPARATOR.join(f"#{{{name}}}" for name in FIELDS.values())
OPTIONS = {
    "default-terminal": "tmux-256color",
    "status": "off",
    "remain-on-exit": "on",
    "history-limit": "5000",
    "escape-time": "0",
}
GAP = 0.3


@dataclass(frozen=True)
class Facts:
    """What tmux says of a pane besides its text."""

    title: str
    command: str
    cursor: tuple[int, int]
    cursor_shown: bool
    alternate: bool
    dead: bool
    size: tuple[int, int]


class Stage:
    """A tmux server on `socket` (a short path); `end` stops it and all its programs."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(socket.parent)}

    def start(
        self,
        argv: Sequence[str],
        cwd: Path,
        environ: Mapping[str, str],
        *,
        name: str = "main",
        size: tuple[int, int] = (220, 50),
    ) -> Actor:
        """Run `argv` in a new session with exactly `environ`."""
        words = ["exec", "env", "-i", *(f"{key}={value}" for key, value in environ.items()), *argv]
        commands = [["set-option", "-g", key, value] for key, value in OPTIONS.items()]
        where = ["-s", name, "-x", str(size[0]), "-y", str(size[1]), "-c", str(cwd)]
        commands.append(["new-session", "-d", *where, shlex.join(words)])
        self._chain(commands)
        return Actor(self, name)

    def tmux(self, *words: str, stdin: str | None = None) -> str:
        """What one tmux command prints; it must succeed."""
        command = ["tmux", "-u", "-S", str(self.socket), "-f", "/dev/null", *words]
        done = subprocess.run(
            command, env=self.environ, input=stdin, capture_output=True, text=True, timeout=20, check=False
        )
        assert done.returncode == 0, f"tmux {' '.join(words)[:200]}: {done.stderr.strip()}"
        return done.stdout

    def end(self) -> None:
        """Stop the server and wait until it and its programs are gone."""
        pids = self._try("list-panes", "-a", "-F", "#{pid} #{pane_pid}").split()
        self._try("kill-server")
        for pid in {int(pid) for pid in pids}:
            eventually(partial(_is_gone, pid), within=15)

    def _try(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.socket), "-N", *words]
        done = subprocess.run(command, env=self.environ, capture_output=True, text=True, timeout=20, check=False)
        return done.stdout

    def _chain(self, commands: Sequence[Sequence[str]]) -> None:
        words: list[str] = []
        for command in commands:
            words += [";", *command] if words else command
        self.tmux(*words)


class Actor:
    """One program in its pane."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage = stage
        self.target = f"={name}:"

    def screen(self, *, styled: bool = False) -> str:
        """What is on the screen; `styled` with the escapes of colours."""
        return self.stage.tmux("capture-pane", "-p", *(["-e"] if styled else []), "-t", self.target)

    def facts(self) -> Facts:
        """The pane as it is now."""
        text = self.stage.tmux("display-message", "-p", "-t", self.target, FORMAT)
        value = dict(zip(FIELDS, text.rstrip("\n").split(SEPARATOR), strict=True))
        return Facts(
            title=value["title"],
            command=value["command"],
            cursor=(int(value["x"]), int(value["y"])),
            cursor_shown=value["shown"] == "1",
            alternate=value["alternate"] == "1",
            dead=value["dead"] == "1",
            size=(int(value["width"]), int(value["height"])),
        )

    def press(self, *keys: str) -> None:
        """Press named keys."""
        self.stage.tmux("send-keys", "-t", self.target, *keys)

    def paste(self, text: str) -> None:
        """One bracketed paste. The pane must be alive: tmux 3.3a dies of a paste into a dead one."""
        assert not self.facts().dead
        buffer = uuid.uuid4().hex
        self.stage.tmux("load-buffer", "-b", buffer, "-", stdin=text)
        self.stage.tmux("paste-buffer", "-d", "-p", "-r", "-b", buffer, "-t", self.target)

    def submit(self, text: str) -> None:
        """Paste, see it on the screen, the pause that all agents need, Enter: sooner, the Enter is lost."""
        self.paste(text)
        end = _letters(text)[-10:]
        eventually(lambda: end in _letters(self.screen()) or "[Pasted" in self.screen(), within=15)
        time.sleep(GAP)
        self.press("Enter")

    def wait_for(self, pattern: str, *, within: float = 20.0) -> None:
        """Returns once `pattern` is on the screen."""
        eventually(lambda: re.search(pattern, self.screen()), within=within)

    def wait_title(self, pattern: str, *, within: float = 20.0) -> None:
        """Returns once the terminal's title fits `pattern`."""
        eventually(lambda: re.search(pattern, self.facts().title), within=within)

    def wait_still(self, *, still: float = 0.7, within: float = 20.0) -> None:
        """Returns once screen and title have not changed for `still` seconds."""
        seen: list[tuple[str, float]] = []

        def is_still() -> bool:
            now = self.screen() + self.facts().title
            if not seen or seen[-1][0] != now:
                seen.append((now, time.monotonic()))
            return time.monotonic() - seen[-1][1] > still

        eventually(is_still, within=within)


def _is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def _letters(text: str) -> str:
    """What is left when lines wrap elsewhere."""
    return "".join(text.split())
