"""The end of rooms: their mail and stash go, and what the disk still has of them."""

from __future__ import annotations

from fan.world import requests
from fan.world.store.removals import GROUP_REMOVED
from fan.world.world import World

DAY = 86400.0


def sweep(world: World) -> None:
    """End the rooms whose time is over, and take away files of the stash and requests that nobody needs any more."""
    now = world.clock.now()
    with world.stash.locked():
        for room in _ended(world, now):
            world.store.end_room(room)
            world.store.empty_stash(room)
        world.stash.sweep(world.store.stashed(), now)
    for member in world.store.members():
        requests.sweep(world.paths.requests(member.id), now)


def _ended(world: World, now: float) -> list[str]:
    """Rooms of groups that have ended for long, or that the person removed as a whole and whose trash has gone; and
    repositories' rooms, to which no message points, a while after their last file was put."""
    settings, rooms = world.settings.values, world.store.rooms()
    if not rooms:
        return []
    removed = world.store.removed_by(GROUP_REMOVED)
    found = []
    for group in world.store.groups(living=False):
        if group.id in rooms and group.ended_at is not None:
            days = min(settings.trash_days, settings.room_days) if group.id in removed else settings.room_days
            if now - group.ended_at > days * DAY:
                found.append(group.id)
    newest: dict[str, float] = {}
    for one in world.store.stashed():
        newest[one.room] = one.at  # oldest first
    found += [room for room, at in newest.items() if room.startswith("repo:") and now - at > settings.room_days * DAY]
    return found
