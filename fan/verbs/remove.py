"""`fan rm` and `fan group rm`: take members away, so that `fan undo` brings them back."""

from __future__ import annotations

from dataclasses import dataclass

from fan.core.caller import Act
from fan.errors import UsageError
from fan.verbs.removing import Removed, alone, group_of, remove_all
from fan.verbs.target import find, find_group, here, known
from fan.world.store.removals import GROUP_REMOVED
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class RemoveRequest:
    """Members by name, or a whole group. With `discard` nothing is archived."""

    targets: tuple[str, ...] = ()
    group: str | None = None
    discard: bool = False


def remove(world: World, request: RemoveRequest) -> Removed:
    """Take away what the request names. Every name is resolved before anything is touched."""
    world.allow(Act.REMOVE)
    if request.discard:
        world.allow(Act.DISCARD)
    if bool(request.targets) == (request.group is not None):
        raise UsageError("name members, or one group", not_done="nothing was removed", hint="fan ls")
    with alone(world):
        members, repo = known(world), here(world)
        if request.group is not None:
            wanted = group_of(members, find_group(world.store.groups(), request.group, repo).id)
        else:
            wanted = list(dict.fromkeys(find(members, text, repo) for text in request.targets))
        return remove_all(world, wanted, GROUP_REMOVED if request.group else "rm", discard=request.discard)
