"""`fan keep`: one member stays, the others of its group go the way of `fan rm`; its work may be merged first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fan.core.caller import Act
from fan.core.model import Row
from fan.errors import TargetGone, UsageError
from fan.verbs.left import Left
from fan.verbs.merging import MergeRequest, merge_winner
from fan.verbs.removing import alone, remove_all
from fan.verbs.rows import rows
from fan.verbs.target import Known, find, here, known
from fan.world.files import is_folder, must_see
from fan.world.git import Merged
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """The winner, and whether and how it is merged. With `discard` the others' work is not archived."""

    target: str
    discard: bool = False
    merge: bool = False
    squash: bool = False
    ff_only: bool = False
    into: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The winner's row, what went, what stayed and why, and the merge that was made or the line that makes it."""

    kept: Row
    removed: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    merge: str = ""
    merged: Merged | None = None

    @property
    def exit_code(self) -> int:
        """0 all others went, 5 some stayed."""
        return 5 if self.left else 0


def keep(world: World, request: KeepRequest) -> Kept:
    """Keep one member of a group and remove the others.

    The merge comes first: what hinders it is raised, and then nothing has changed.
    """
    world.allow(Act.KEEP)
    if request.discard:
        world.allow(Act.DISCARD)
    how = _how(request)
    with alone(world):
        members = known(world)
        winner = find(members, request.target, here(world))
        must_see(winner.member.path, "nothing was removed")
        if not is_folder(winner.member.path):
            raise TargetGone(
                f"{winner.member.branch} has no folder any more", not_done="nothing was removed", hint="fan ls"
            )
        merged = merge_winner(world, winner, members, MergeRequest(how, request.into)) if how else None
        others = [one for one in members if one.group == winner.group and one != winner]
        gone = remove_all(world, others, "keep", discard=request.discard, merged=merged)
    return _kept(world, winner, Kept(rows(world, [winner])[0], gone.removed, gone.left, gone.notes, "", merged))


def _how(request: KeepRequest) -> str:
    """How to merge; empty for not at all."""
    options = {"--squash": request.squash, "--ff-only": request.ff_only, "--into": request.into is not None}
    given = [name for name, value in options.items() if value]
    if given and not request.merge:
        raise UsageError(f"{given[0]} goes with --merge", not_done="nothing was done", hint="fan keep --help")
    if request.squash and request.ff_only:
        raise UsageError("--squash and --ff-only exclude each other", not_done="nothing was done")
    if not request.merge:
        return ""
    return "squash" if request.squash else "ff-only" if request.ff_only else "merge"


def _kept(world: World, winner: Known, result: Kept) -> Kept:
    """With what is to say of a winner that is not on the branch it was made with, and the line that merges it."""
    member = winner.member
    repo = world.git.repository(winner.group.repo)
    status = repo.status(member.path, member.base_oid)
    if status is None or status.oid is None:
        return result
    notes = list(result.notes)
    if status.branch is None:
        notes.append(f"{member.branch}: its agent is on no branch, but at the commit {status.oid[:10]}")
    elif status.branch != member.branch:
        notes.append(f"{member.branch}: its agent is on the branch {status.branch} now")
    if result.merged and status.oid != result.merged.source:
        merged, now = result.merged.source[:10], status.oid[:10]
        notes.append(f"{member.branch}: its agent has committed since: {merged} was merged, {now} was not")
    line = "" if result.merged else repo.merge_line(status.branch or status.oid)
    if line and repo.bare:
        line = f"fan keep {member.id} --merge --into BRANCH"  # there is no checkout to stand in
    return replace(result, notes=notes, merge=line)
