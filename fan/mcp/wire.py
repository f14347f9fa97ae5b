"""The way to whoever called a tool: when its answer is out, and when nobody waits for it any more."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from io import FileIO
from typing import IO

import anyio
import anyio.to_thread

from fan.render.handover import is_drained
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Line:
    """To the caller of one tool. `caller` becomes readable when nobody waits for the answer any more; `once_out` is
    what is done when it is out."""

    caller: IO[bytes] | None = None
    once_out: list[Callable[[World], None]] = field(default_factory=list)


class Answers:
    """Standard output as the protocol's library writes to it: a line at a time, each flushed.

    What is written by mistake, by whatever runs in this process, goes to standard error.
    """

    def __init__(self, act: Callable[[Callable[[World], None]], None], end: Callable[[], None]) -> None:
        self.lost: OSError | None = None
        self._act, self._end = act, end
        self._waiting: dict[object, list[Callable[[World], None]]] = {}
        self._text = ""
        self._settling = anyio.Lock()
        self._file = FileIO(os.dup(sys.stdout.fileno()), "w")
        os.dup2(2, sys.stdout.fileno())

    def expect(self, request: object, once_out: list[Callable[[World], None]]) -> None:
        """The answer to this request is on its way."""
        self._waiting[request] = once_out

    async def settled(self) -> None:
        """Return when all is done for the answers that were heard: the next call counts on it."""
        async with self._settling:
            return

    async def write(self, text: str) -> None:
        """Keep a line until it is flushed."""
        self._text += text

    async def flush(self) -> None:
        """Write it, and do what was to be done once it is out."""
        text, self._text = self._text, ""
        once_out = self._waiting.pop(json.loads(text).get("id"), [])
        try:
            async with self._settling:
                await anyio.to_thread.run_sync(self._put, text, once_out)
        except OSError as error:
            self.lost = error
            self._end()

    def _put(self, text: str, once_out: list[Callable[[World], None]]) -> None:
        data = memoryview(text.encode())
        while data:
            data = data[self._file.write(data) :]
        if once_out and is_drained(self._file.fileno()):
            for act in once_out:
                self._act(act)
