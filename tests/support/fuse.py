"""Breaks a verb off right before or after its n-th effect, in-process: as if the process had been killed there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from fan.world.git.run import Runner
from fan.world.store.door import Door

Made = TypeVar("Made")


class Crash(BaseException):
    """Stands for SIGKILL: nothing in `fan` catches it."""


class Fuse:
    """Burns down by one at each git that is started, each write to the store and each rename."""

    def __init__(self, length: int) -> None:
        self.left = length

    def burn(self) -> None:
        """One step nearer; raises Crash at the end, and from then on always."""
        if threading.current_thread() is threading.main_thread():
            self.left -= 1
            if self.left < 0:
                raise Crash


@contextmanager
def lit(length: int) -> Iterator[Fuse]:
    """While it is lit, verbs break off after so many effects."""
    fuse, write = Fuse(length), Door._write

    def burning(call: Callable[..., Made]) -> Callable[..., Made]:
        def called(*words: Any, **more: Any) -> Made:
            fuse.burn()
            made = call(*words, **more)
            fuse.burn()
            return made

        return called

    @contextmanager
    def writing(self: Door, *, durable: bool = True) -> Iterator[Any]:
        fuse.burn()
        with write(self, durable=durable) as db:
            yield db
        fuse.burn()

    patches: list[AbstractContextManager[Any]] = [
        patch.object(Runner, "ask", burning(Runner.ask)),
        patch.object(Runner, "ask_by_file", burning(Runner.ask_by_file)),
        patch.object(Path, "rename", burning(Path.rename)),
        patch.object(Door, "_write", writing),
    ]
    for one in patches:
        one.__enter__()
    try:
        yield fuse
    finally:
        for one in patches:
            one.__exit__(None, None, None)
