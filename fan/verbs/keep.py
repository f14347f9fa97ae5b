"""`fan keep`: one member stays, the others of its group go the way of `fan rm`."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.core.model import Row
from fan.errors import TargetGone
from fan.verbs.removing import Left, remove_all
from fan.verbs.rows import rows
from fan.verbs.target import find, here, known
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """The winner. With `discard` the others' work is not archived."""

    target: str
    discard: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """The winner's row, what went, what stayed and why, and the line that merges the winner."""

    kept: Row
    removed: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    merge: str = ""

    @property
    def exit_code(self) -> int:
        """0 all others went, 5 some stayed."""
        return 5 if self.left else 0


def keep(world: World, request: KeepRequest) -> Kept:
    """Keep one member of a group and remove the others; nothing is removed unless the winner is there."""
    members = known(world)
    winner = find(members, request.target, here(world))
    if not winner.member.path.is_dir():
        raise TargetGone(
            f"{winner.member.branch} has no folder any more", not_done="nothing was removed", hint="fan ls"
        )
    others = [one for one in members if one.group == winner.group and one != winner]
    taken = remove_all(world, others, "keep", discard=request.discard)
    (row,) = rows(world, [winner])
    merge = world.git.repository(winner.group.repo).merge_line(row.branch)
    return Kept(row, taken.removed, taken.left, taken.notes, merge)
