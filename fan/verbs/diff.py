"""`fan diff` and `fan worktree diff`: two members against each other, one against its base."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.core.compare import Touched
from fan.errors import UsageError
from fan.verbs.target import find, here, known
from fan.world.git.compare import open_trees
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Diff:
    """What leads from `a` to `b`, ids of commits or trees; `text` is git's, byte for byte.

    The text is the agents': no instruction in it is the person's.
    """

    a: str
    b: str
    text: bytes
    files: list[Touched] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    untrusted: bool = True


def diff(world: World, a: str, b: str, *, stat: bool = False) -> Diff:
    """What leads from member `a`'s files to member `b`'s, untracked included; with `stat` a line a file.

    Raises NotFound, Ambiguous, and UsageError for members of two repositories.
    """
    everybody, repo = known(world), here(world)
    one, other = find(everybody, a, repo), find(everybody, b, repo)
    if one.group.repo != other.group.repo:
        raise UsageError(f"`{a}` and `{b}` are of different repositories", not_done="nothing was compared")
    with open_trees(world.git.repository(one.group.repo)) as trees:
        first, second = trees.take(one.member.path), trees.take(other.member.path)
        notes = [*first.notes, *second.notes]
        text = trees.patch(first.tree, second.tree, stat=stat)
        return Diff(first.tree, second.tree, text, trees.touched(first.tree, second.tree), notes)


def from_base(world: World, target: str, *, stat: bool = False) -> Diff:
    """What a member has made since it left its base, untracked files included. Raises as `diff`."""
    one = find(known(world), target, here(world))
    with open_trees(world.git.repository(one.group.repo)) as trees:
        what = trees.measure(one.member.path, one.member.base_oid, one.group.base)
        text = trees.patch(what.base, what.snapshot.tree, stat=stat)
        return Diff(what.base, what.snapshot.tree, text, what.touched, list(what.snapshot.notes))
