"""The demo agent in a terminal of its own, in a repository of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.terminal import Terminal, bare_environment, open_terminal
from tests.support.wait import eventually

REST = "? for help"


@dataclass
class Demo:
    """The demo agent in a terminal, and what it leaves behind."""

    terminal: Terminal
    repository: Path
    home: Path
    environ: dict[str, str]

    def start(self, behaviour: str = "", *arguments: str, ready: str = REST, **env: str) -> Terminal:
        """Starts it and waits for `ready` on its screen."""
        given = {"FAN_DEMO": behaviour, "FAN_DEMO_HOME": str(self.home), "FAN_DEMO_SPEED": "10"}
        argv = [sys.executable, "-m", "fan.demo", *arguments]
        self.terminal.start(argv, cwd=self.repository, env={**self.environ, **given, **env})
        if ready:
            self.terminal.shows(ready)
        return self.terminal

    def prompt(self, text: str, *, until: str = "● Done:") -> None:
        """Pastes and sends a prompt, and waits for what it leads to."""
        self.terminal.paste(text)
        self.terminal.press("Enter")
        self.terminal.shows(until)

    def items(self) -> list[dict[str, Any]]:
        """Its transcript."""
        files = list((self.home / "sessions").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def prompts(self, count: int) -> list[str]:
        """The prompts that it took, once it has taken `count`."""
        eventually(lambda: len(self._prompts()) >= count, within=20)
        return self._prompts()

    def git(self, *arguments: str) -> str:
        return git(self.repository, *arguments)

    def _prompts(self) -> list[str]:
        return [item["text"] for item in self.items() if item["type"] == "user"]


@contextmanager
def open_demo(home: Path) -> Iterator[Demo]:
    """A repository `proj` with one commit in `home`, and a demo agent to start in it."""
    repository = home / "proj"
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "first")
    with open_terminal() as terminal:
        yield Demo(terminal, repository, home / "state", bare_environment(home))


def git(folder: Path, *arguments: str) -> str:
    """The output of git, which must succeed."""
    who = {f"GIT_{role}_{what}": "test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {**bare_environment(folder), **who}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=True)
    return done.stdout
