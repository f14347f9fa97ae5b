"""The names that a shell may offer."""

from __future__ import annotations

from typing import Literal

from fan.world.store.connection import NAME
from fan.world.world import World

What = Literal["agents", "archives", "groups", "members"]


def names(world: World, what: What) -> list[str]:
    """Agents with their options, archives of the repository we stand in, living groups, or living members by branch.

    Nothing is made by asking. Raises what git refuses.
    """
    if what == "agents":
        return _agents(world)
    if what == "archives":
        return [one.name for one in world.git.repository(world.cwd).archives()]
    if not (world.paths.state / NAME).exists():
        return []
    groups = world.store.groups()
    if what == "groups":
        return [group.stem for group in groups]
    living = {group.id for group in groups}
    return [member.branch for member in world.store.members() if member.group in living]


def _agents(world: World) -> list[str]:
    found = []
    for name in world.catalogue.names():
        options = world.catalogue.recipe(name).options
        found += [name, *(f"{name}:{option}" for option in options)]
    return found
