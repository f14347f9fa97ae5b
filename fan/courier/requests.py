"""Requests of members in sandboxes: each is answered by a process of its own, so that the loop never waits."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable

from fan.core.model import Member
from fan.errors import FanError
from fan.world.processes import Child
from fan.world.requests import waiting
from fan.world.world import World

ANSWERER = "fan.cli.answerer"
AT_ONCE = 4
TRIES = 3
LONGEST = 3700.0
# A folder's time is coarse: what was put into it right after we looked may not show in it.
SETTLED = 1.0
log = logging.getLogger("fan.courier")


class Requests:
    """Looks for requests in the members' folders, and starts what answers them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._folders: dict[str, str] = {}
        self._quiet: dict[str, int] = {}
        self._running: dict[tuple[str, str], tuple[Child, float]] = {}
        self._tries: Counter[tuple[str, str]] = Counter()

    def answer(self, members: Iterable[Member]) -> None:
        """Have what was left be answered. Costs one `stat` a member where nothing was."""
        self._reap()
        for member in members:
            try:
                changed = os.stat(self._folder(member.id)).st_mtime_ns  # noqa: PTH116
            except OSError:
                continue  # it has no such folder, or is being removed
            if self._quiet.get(member.id) != changed and not self._look(member.id):
                settled = self._world.clock.now() - changed / 1e9 > SETTLED
                self._quiet[member.id] = changed if settled else 0

    def _folder(self, member: str) -> str:
        """Kept as text: making a path costs more than the look at it."""
        if member not in self._folders:
            self._folders[member] = str(self._world.paths.requests(member))
        return self._folders[member]

    def _look(self, member: str) -> bool:
        """Start what is missing; whether there is anything to come back to."""
        names = {name.partition(".")[0]: name for name in waiting(self._world.paths.requests(member))}
        for gone in [key for key in self._tries if key[0] == member and key[1] not in names]:
            del self._tries[gone]
        # What is still there after so many tries is no request, or one that nobody can do.
        wanted = [key for request in names if self._tries[key := (member, request)] < TRIES]
        busy = sum(1 for owner, _ in self._running if owner == member)
        startable = [key for key in wanted if key not in self._running]
        for key in startable[: AT_ONCE - busy]:
            self._start(key, names[key[1]])
        return bool(wanted or busy)

    def _start(self, key: tuple[str, str], name: str) -> None:
        self._tries[key] += 1
        words = [*self._world.python, ANSWERER, key[0], name]
        try:
            self._running[key] = Child(words, self._world.environ), self._world.clock.now()
        except FanError as error:
            log.warning("a request of %s was not answered: %s", key[0], error)

    def _reap(self) -> None:
        """Forget those that are done, and end those that take too long."""
        for key, (process, since) in list(self._running.items()):
            if process.has_ended():
                del self._running[key]
            elif self._world.clock.now() - since > LONGEST:
                process.end()
