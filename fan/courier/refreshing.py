"""The first refresh of a new worktree's index; apart from the housekeeping, which quick verbs load too."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from fan.core.model import Member
from fan.errors import FanError
from fan.world.world import World

log = logging.getLogger(__name__)


class Refresher:
    """Lets git look at a fresh checkout once, so that every later status is quick.

    Beside the courier's work, when an agent is about to get its first prompt: the index is then old enough, and
    nobody else wants its lock yet.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._done: set[str] = set()
        self._pool = ThreadPoolExecutor(1)

    def __call__(self, member: Member) -> None:
        """Refresh a member's index, unless that was done or its prompt is not the first."""
        if member.id in self._done or len(self._world.store.deliveries(member.id)) > 1:
            return
        self._done.add(member.id)
        self._pool.submit(self._refresh, member)

    def _refresh(self, member: Member) -> None:
        try:
            self._world.git.repository(member.path).refresh_index(member.path)
        except FanError as error:
            log.warning("%s: %s", member.branch, error.message)
