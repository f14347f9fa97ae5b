"""How the members of a group differ: rules on what git, checks, history and transcripts say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from msgspec import Struct

from fan.core.model import Change, Delivery, Status
from fan.core.standing import has_ended

STANDS = 2.0
"""Seconds that a rest must last to be the end of the work; a shorter one lies between two steps of it."""


class Touched(Struct, frozen=True):
    """A file that is not as in the base. Lines are None for a binary one; `was` is its name before, if another."""

    path: str
    added: int | None
    removed: int | None
    was: str = ""


class Verification(Struct, frozen=True):
    """One run of a check in a member's worktree, bound to the commit and the whole tree that it began on.

    `exit_code` is None while it runs and, once it has ended, when it was broken off at a limit.
    """

    id: int
    member: str
    command: str
    commit_oid: str
    tree_oid: str
    exit_code: int | None
    started_at: float
    ended_at: float | None
    output: Path


class Verdict(Struct, frozen=True):
    """What the last check says of a member: `passed`, `failed` or `broken_off` (at a limit).

    `stale` says that the worktree is not any more what the check began on. `at` is when it began.
    """

    status: str
    stale: bool
    command: str
    exit_code: int | None
    at: float
    seconds: float
    commit: str
    tree: str
    output: str


class Tokens(Struct, frozen=True):
    """What a model has read anew, read from its cache, and written."""

    input: int
    cached: int
    output: int


def verdict(one: Verification | None, commit: str, tree: str) -> Verdict | None:
    """What a check that has ended says of the worktree that is now at `commit` with `tree`."""
    if one is None or one.ended_at is None:
        return None
    return Verdict(
        status="broken_off" if one.exit_code is None else "failed" if one.exit_code else "passed",
        stale=(one.commit_oid, one.tree_oid) != (commit, tree),
        command=one.command,
        exit_code=one.exit_code,
        at=one.started_at,
        seconds=one.ended_at - one.started_at,
        commit=one.commit_oid,
        tree=one.tree_oid,
        output=str(one.output),
    )


def overlap(touched: Mapping[str, Iterable[Touched]]) -> dict[str, list[str]]:
    """The paths that several members touch, by name, each with those members in their order."""
    found: dict[str, list[str]] = {}
    for member, files in touched.items():
        for path in {path for file in files for path in (file.path, file.was) if path}:
            found.setdefault(path, []).append(member)
    return {path: found[path] for path in sorted(found) if len(found[path]) > 1}


def took(deliveries: Iterable[Delivery], changes: Sequence[Change], rests: Sequence[float]) -> float | None:
    """Seconds from each prompt's submission to the rest that followed it, summed up.

    None while nothing was sent or the last one's rest has not come. `rests` are the moments at which the agent
    itself said that it rests: they count where it was too quick to be seen at work.
    """
    begun = [at for one in deliveries if one.status is Status.SENT and (at := one.pressed_at or one.done_at)]
    total = 0.0
    for begin, until in pairwise([*begun, inf]):
        end = _rest(begin, until, changes, rests)
        if end is None and until == inf:
            return None
        total += (until if end is None else end) - begin
    return total if begun else None


def tokens(items: Iterable[Any], message: str, counts: Mapping[str, Sequence[str]]) -> Tokens | None:
    """The sum over a transcript's items; None where none tells any.

    `counts` names the numbers of each kind, `message` what several items about one answer share: the last counts.
    """
    found: dict[object, dict[str, int]] = {}
    for number, item in enumerate(items):
        told = {kind: [at(item, path) for path in paths] for kind, paths in counts.items()}
        numbers = {kind: sum(one for one in some if isinstance(one, int)) for kind, some in told.items()}
        if any(numbers.values()):
            found[(at(item, message) if message else None) or number] = numbers
    if not found:
        return None
    return Tokens(*(sum(one.get(kind, 0) for one in found.values()) for kind in Tokens.__struct_fields__))


def at(item: Any, path: str) -> Any:
    """What stands in an item under keys joined by dots; None where nothing does."""
    for key in path.split("."):
        item = item.get(key) if isinstance(item, dict) else None
    return item


def _rest(begin: float, until: float, changes: Sequence[Change], rests: Sequence[float]) -> float | None:
    """When the work that was submitted at `begin` came to rest, before `until`."""
    newest = None
    for one, later in zip(changes, [*changes[1:], None], strict=True):
        if one.since >= until:
            break
        newest = one
        lasts = later is None or later.since >= until or later.since - one.since >= STANDS
        if one.since >= begin and has_ended(one.state, one.kind) and lasts:
            return one.since
    unseen = newest is not None and has_ended(newest.state, newest.kind)
    return next((moment for moment in reversed(rests) if unseen and begin <= moment < until), None)
