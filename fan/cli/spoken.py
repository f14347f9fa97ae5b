"""How the person called us, and how they want their answer."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from fan.world.files import which

PROGRAM = "fan"
_COMMAND = r"(?<![\w/.-])fan(?= [\w-])"


class Spoken(Struct, frozen=True):
    """`name` is `fan` as it was called; `as_json` whether the answer is one JSON value."""

    name: str
    as_json: bool

    def from_anywhere(self) -> Spoken:
        """The same, for lines to be typed in another folder."""
        program, *rest = shlex.split(self.name)
        whole = str(Path(program).absolute()) if "/" in program else program
        return Spoken(shlex.join([whole, *rest]), self.as_json)

    def said(self, text: str) -> str:
        """`text` with the commands in it as this person would type them."""
        return text if self.name == PROGRAM else re.sub(_COMMAND, lambda _: self.name, text)


def spoken(words: Sequence[str]) -> Spoken:
    """Read from the command line, before it is known to make sense."""
    options = words[: words.index("--")] if "--" in words else words
    return Spoken(called(sys.argv[0], sys.orig_argv), "--json" in options)


def called(program: str, original: Sequence[str]) -> str:
    """The shell words that started this program."""
    path = Path(program)
    if path.name == "__main__.py":
        return f"{shlex.quote(original[0])} -m {PROGRAM}"
    found = which(path.name, None)
    return path.name if found and Path(found) == path else shlex.quote(program)
