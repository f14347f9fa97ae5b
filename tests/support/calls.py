"""How often tmux is run."""

from __future__ import annotations

import os
import shutil

from tests.support.cli import Fan


class TmuxCalls:
    """A tmux before the real one that writes a line for each call: for whoever has `path` as its PATH."""

    def __init__(self, fan: Fan) -> None:
        folder, self._log = fan.folder / "shim", fan.folder / "calls"
        folder.mkdir()
        self._log.touch()
        real = shutil.which("tmux", path=fan.env["PATH"])
        (folder / "tmux").write_text(f'#!/bin/sh\necho called >>"{self._log}"\nexec "{real}" "$@"\n')
        (folder / "tmux").chmod(0o700)
        self.path = os.pathsep.join([str(folder), fan.env["PATH"]])

    def count(self) -> int:
        """How many there were."""
        return len(self._log.read_text().splitlines())
