"""The puppet as an agent of `fan`, and what it wrote down about each member."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PROGRAM, ROOT, Fan, Result
from tests.support.wait import eventually

FOLDER = ROOT / "tests" / "puppets"
Row = Mapping[str, Any]


class Puppets:
    """The puppet's recipe and program in the home of one `fan`; a turn takes 0.3 s unless told otherwise."""

    def __init__(self, fan: Fan) -> None:
        self.folder = fan.folder / "p"
        self.folder.mkdir()
        self.recipes = fan.config / "recipes"
        self.recipes.mkdir(parents=True)
        shutil.copy(FOLDER / "recipes" / "puppet.toml", self.recipes)
        fan.env["PATH"] = os.pathsep.join([str(FOLDER), str(Path(sys.executable).parent), fan.env["PATH"]])
        fan.env |= {"PUPPET_DIR": str(self.folder), "PUPPET_ARGS": "--busy 0.3"}

    def raw(self, row: Row) -> bytes:
        """Every byte that a member's puppet was typed."""
        return self._read(row, "raw")

    def submitted(self, row: Row) -> list[bytes]:
        """The texts that were submitted to it, byte for byte."""
        return [one["text"].encode("utf-8", "surrogateescape") for one in self._records(row, "submitted")]

    def events(self, row: Row, name: str = "") -> list[dict[str, Any]]:
        """What it did, or only the events of one name."""
        return [one for one in self._records(row, "events") if name in ("", one["event"])]

    def started(self, row: Row) -> dict[str, Any]:
        """How it was started: pid, cwd, argv and env; waits for it."""
        eventually(lambda: self.events(row, "start"), within=15)
        return self.events(row, "start")[0]

    def takes(self, row: Row, *texts: str, within: float = 20.0) -> None:
        """Waits until exactly these texts were submitted to it, in this order."""
        eventually(lambda: len(self.submitted(row)) >= len(texts), within=within)
        assert self.submitted(row) == [text.encode() for text in texts]

    def has_keys(self, row: Row, keys: bytes) -> None:
        """Waits until these are the last keys that it was typed."""
        eventually(lambda: self.raw(row).endswith(keys))

    def runs(self, row: Row, *words: str, within: float = 30.0) -> Result:
        """How a command of `fan` ends that this member's agent runs, whatever else it does meanwhile."""
        return self.does(row, shlex.join([*PROGRAM, *words]), within=within)

    def does(self, row: Row, line: str, within: float = 30.0) -> Result:
        """The same for any command line of a shell."""
        number = len(list(self.folder.glob(f"{row['id']}.*.code")))
        out = self.folder / f"{row['id']}.{number}"
        errand = self.folder / f"{row['id']}.errand"
        part = errand.with_suffix(".part")
        part.write_text(f"{number}\n{line}")
        part.rename(errand)
        code = self.folder / f"{row['id']}.{number}.code"
        eventually(code.exists, within=within)
        return Result(int(code.read_text()), Path(f"{out}.out").read_text(), Path(f"{out}.err").read_text())

    def _records(self, row: Row, kind: str) -> list[dict[str, Any]]:
        lines = self._read(row, kind).decode().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def _read(self, row: Row, kind: str) -> bytes:
        file = self.folder / f"{row['id']}.{kind}"
        return file.read_bytes() if file.exists() else b""


@pytest.fixture
def puppets(fan: Fan) -> Iterator[Puppets]:
    """The puppet, known to this test's `fan`."""
    yield Puppets(fan)
