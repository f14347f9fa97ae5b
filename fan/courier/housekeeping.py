"""What nobody goes on with: members that a dead maker left half-made, their prompts, buffers that were filled."""

from __future__ import annotations

from collections.abc import Iterable

from fan.core.model import Group, Member, Status, Step
from fan.world.tmux import Tmux
from fan.world.world import World

MAKING = (Step.PLANNED, Step.WORKTREE, Step.SETUP, Step.SESSION)


def orphans(groups: Iterable[Group], members: Iterable[Member]) -> list[Member]:
    """Members that were being made by a `fan N` that is no longer there."""
    unfinished = [member for member in members if member.step in MAKING]
    if not unfinished:
        return []
    # 15 ms to import, and every verb that only reads comes by here.
    from fan.world import processes

    makers = {one.id: (one.creator_pid, one.creator_started) for one in groups}
    return [one for one in unfinished if one.group in makers and not processes.alive(*_maker(one, makers[one.group]))]


def _maker(member: Member, of_group: tuple[int, float]) -> tuple[int, float]:
    """Until there is a pane, a member that has joined later names its own maker."""
    return (member.pid, member.pid_started) if member.pid and not member.pane else of_group


def close_orphans(world: World) -> None:
    """Mark what a killed `fan N` left half-made; `fan rm` takes it away."""
    store = world.store
    for member in orphans(store.groups(), store.members()):
        why = f"interrupted at step `{member.step}`; fan rm {member.id} takes it away"
        store.update_member(member.id, step=Step.FAILED, failure=why)
        close_deliveries(world, member, "interrupted")


def close_deliveries(world: World, member: Member, why: str) -> None:
    """Give up what is pending for a member that will not take it."""
    from fan.core import delivery as rules

    for delivery in world.store.deliveries(member.id):
        if delivery.status is Status.PENDING:
            world.store.save_delivery(rules.failed(delivery, why, world.clock.now()), was=delivery)


def drop_stale_buffers(world: World, tmux: Tmux) -> None:
    """Delete the paste buffers of deliveries that were given up after they had been filled."""
    from fan.courier.typing import BUFFER, buffer_name

    # The buffers first: one that is filled meanwhile is not among them.
    filled = [name for name in tmux.buffers() if name.startswith(BUFFER)]
    open_ones = {buffer_name(one) for one in world.store.open_deliveries()} if filled else set()
    for name in filled:
        if name not in open_ones:
            tmux.drop_buffer(name)
