"""Files handed over by mail."""

from __future__ import annotations

from fan.core.mail import Attachment
from fan.world.world import World


def hand_over(world: World, path: str, room: str) -> Attachment:
    raise NotImplementedError
