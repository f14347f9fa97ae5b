"""Whom a message or a reply to it would not reach, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fan.core.caller import Who
from fan.core.mail import HUMAN, Message, MessageKind, speaks_for
from fan.core.model import Member
from fan.world import processes
from fan.world.world import World

OUTSIDE = "an agent outside of fan's sessions has no inbox"


def fates(world: World, messages: Iterable[Message]) -> Mapping[str, str]:
    """Of those who wrote these messages, or in whose inbox they lie: why nobody is there, by address."""
    notes = [one for one in messages if one.kind is not MessageKind.ALERT]
    wanted = {address for one in notes for address in (one.inbox, one.sender) if not speaks_for(address, HUMAN)}
    found = {address: OUTSIDE for address in wanted if address == Who.AGENT}
    wanted -= found.keys()
    owners = {one.address: one for one in world.store.members(living=False)} if wanted else {}
    found |= {address: _fate(owners.get(address)) for address in wanted}
    return {address: fate for address, fate in found.items() if fate}


def _fate(owner: Member | None) -> str:
    if owner is None:
        return "its agent was started anew, with another conversation"
    if owner.removed_at is not None:
        return "its member was removed"
    return "" if processes.alive(owner.pid, owner.pid_started) else "its agent has exited"
