"""`fan rm` and `fan group rm`: take members away, so that `fan undo` brings them back."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.core.caller import Act
from fan.core.model import Row
from fan.errors import UsageError
from fan.verbs.removing import Left, alone, exit_code, group_of, remove_all
from fan.verbs.target import find, find_group, here, known
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class RemoveRequest:
    """Members by name, or a whole group. With `discard` nothing is archived."""

    targets: tuple[str, ...] = ()
    group: str | None = None
    discard: bool = False


@dataclass(frozen=True, slots=True)
class Removed:
    """What went (rows as they were), what stayed and why, and what the person should know."""

    removed: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all went, 1 none did, 5 some."""
        return exit_code(self.removed, self.left)


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
        taken = remove_all(world, wanted, "group rm" if request.group else "rm", discard=request.discard)
    return Removed(taken.removed, taken.left, taken.notes)
