"""What `keep --merge` merges, and into which branch: decided before anything is touched."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fan.errors import Dirty, FanError, NoCommit, UsageError
from fan.verbs.target import Known
from fan.world.git import Merge, Merged, Repository, Work
from fan.world.git.values import UNBORN
from fan.world.world import World

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """`how` is `merge`, `squash` or `ff-only`; `into` is a branch, or None for the one where the person stands."""

    how: str = "merge"
    into: str | None = None


def merge_winner(world: World, winner: Known, members: Sequence[Known], request: MergeRequest) -> Merged:
    """Merge what the winner stands on. `members` are all living ones: their checkouts are not merged into.

    Raises Dirty for uncommitted work on either side, Conflict; nothing has changed then.
    """
    member = winner.member
    repo = world.git.repository(winner.group.repo)
    work = repo.inspect(member.path, member.base_oid)
    _refuse_uncommitted(work)
    closed = frozenset(Path(os.path.realpath(one.member.path)) for one in members)
    return repo.merge(
        Merge(
            oid=work.oid,
            branch=work.branch,
            into=request.into or _branch_here(world, repo, closed),
            how=request.how,
            message=_message(winner, work),
            scratch=_scratch(world, repo),
            closed=closed,
        )
    )


def _refuse_uncommitted(work: Work) -> None:
    if work.oid == UNBORN:
        raise NoCommit(f"{work.path} stands on a branch without a commit", not_done="nothing was merged or removed")
    if not work.dirty:
        return
    names = list(dict.fromkeys((*work.staged, *work.modified, *work.untracked)))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    what = f"a {work.operation} under way" if work.operation else f"uncommitted work: {shown}"
    place = shlex.quote(str(work.path))
    raise Dirty(
        f"{work.path} has {what}; a merge takes commits only",
        not_done="nothing was merged or removed",
        hint=f"git -C {place} status" if work.operation else f"git -C {place} add -A && git -C {place} commit",
    )


def _branch_here(world: World, repo: Repository, closed: frozenset[Path]) -> str:
    """The branch of the checkout that the person stands in, or of the main one where that is a member's."""
    place = _standing(world, repo)
    if place is None or Path(os.path.realpath(place)) in closed:
        place = None if repo.bare else repo.root
    branch = world.git.repository(place).head().branch if place else None
    if branch is None:
        where = f"{place} is on no branch" if place else "a bare repository has no branch checked out"
        raise UsageError(
            f"{where}: name the one to merge into",
            not_done="nothing was merged or removed",
            hint="fan keep MEMBER --merge --into BRANCH",
        )
    return branch


def _standing(world: World, repo: Repository) -> Path | None:
    """The checkout of this very repository that we stand in."""
    try:
        here = world.git.repository(world.cwd)
    except FanError:
        return None
    return here.top if here.common_dir == repo.common_dir else None


def _message(winner: Known, work: Work) -> str:
    """The one commit of a squash: the group, the branch, and what the commits said, oldest first."""
    name = work.branch or work.oid[:10]
    said = "\n".join(f"* {commit.subject}" for commit in reversed(work.commits))
    more = f"* and {work.ahead - len(work.commits)} before\n" if work.ahead > len(work.commits) else ""
    return f"Squash {name}\n\nFrom the group {winner.group.stem}.\n\n{more}{said}".rstrip() + "\n"


def _scratch(world: World, repo: Repository) -> Path:
    """Always the same for a repository: what a killed call left there is found and goes."""
    mark = hashlib.sha256(os.fsencode(repo.common_dir)).hexdigest()[:12]
    return world.paths.worktrees / ".merge" / mark
