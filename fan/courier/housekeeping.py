"""What the courier does besides typing: it closes what a dead maker left open, and quickens new worktrees' status."""

from __future__ import annotations

from collections.abc import Iterable

from fan.core import delivery as rules
from fan.core.model import Group, Member, Status, Step
from fan.errors import FanError
from fan.world import processes
from fan.world.world import World

MAKING = (Step.PLANNED, Step.WORKTREE, Step.SETUP, Step.SESSION)


def orphans(groups: Iterable[Group], members: Iterable[Member]) -> list[Member]:
    """Members that were being made by a `fan N` that is no longer there."""
    unfinished = [member for member in members if member.step in MAKING]
    if not unfinished:
        return []
    dead = {one.id for one in groups if not processes.alive(one.creator_pid, one.creator_started)}
    return [member for member in unfinished if member.group in dead]


def close_orphans(world: World) -> None:
    """Mark what a killed `fan N` left half-made; `fan rm` takes it away."""
    store = world.store
    for member in orphans(store.groups(), store.members()):
        store.update_member(member.id, step=Step.FAILED, failure=f"interrupted at step `{member.step}`")
        close_deliveries(world, member, "interrupted")


def close_deliveries(world: World, member: Member, why: str) -> None:
    """Give up what is pending for a member that will not take it."""
    for delivery in world.store.deliveries(member.id):
        if delivery.status is Status.PENDING:
            world.store.save_delivery(rules.failed(delivery, why, world.clock.now()), was=delivery)


def refresh_index(world: World, member: Member) -> str:
    """Let git look at a fresh checkout once, so that every later status is quick; why not, if it cannot."""
    try:
        world.git.repository(member.path).refresh_index(member.path)
    except FanError as error:
        return error.message
    return ""
