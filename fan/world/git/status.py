"""The state of worktrees, many at once, without taking a lock that an agent's own git may need."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from msgspec.structs import replace

from fan.world.files import is_folder, unseen
from fan.world.git.many import begin_asking
from fan.world.git.run import Output, Runner
from fan.world.git.values import UNBORN, WorktreeStatus

_QUESTION = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=normal")


class Ahead:
    """How many commits a head has that its base lacks. Two ids always give the same answer: it is kept."""

    def __init__(self, common: Runner) -> None:
        self._common = common
        self._known: dict[tuple[str, str], int | None] = {}

    def counts(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int | None]:
        """Counts for pairs of (base, head), by one git per base; None where an object is missing."""
        wanted = set(pairs)
        unknown: dict[str, list[str]] = defaultdict(list)
        for base, head in wanted - self._known.keys():
            if base == head:
                self._known[base, head] = 0
            else:
                unknown[base].append(head)
        for base, heads in unknown.items():
            self._learn(base, heads)
        return {pair: self._known[pair] for pair in wanted}

    def fill(self, found: Sequence[WorktreeStatus | None], bases: Sequence[str]) -> list[WorktreeStatus | None]:
        """The statuses with `ahead` of their bases set, in order."""
        pairs = [
            (base, one.oid) if one is not None and one.oid is not None else None
            for one, base in zip(found, bases, strict=True)
        ]
        counts = self.counts(pair for pair in pairs if pair)
        return [
            replace(one, ahead=counts[pair]) if one is not None and pair else one
            for one, pair in zip(found, pairs, strict=True)
        ]

    def _learn(self, base: str, heads: list[str]) -> None:
        feed = "".join(f"{oid}\n" for oid in (*heads, f"^{base}"))
        answer = self._common.ask("rev-list", "--parents", "--stdin", feed=feed)
        if not answer.code:
            graph = dict(_commit_and_parents(answer.out))
            self._known |= {(base, head): _reachable(head, graph) for head in heads}
        elif len(heads) == 1:
            self._known[base, heads[0]] = None
        else:
            for head in heads:
                self._learn(base, [head])


def begin_statuses(runner: Runner, paths: Sequence[Path]) -> Callable[[], list[WorktreeStatus | None]]:
    """Begins to ask for branch, head and changes of each path; what it returns waits for them, in order.

    `ahead` is left open. None where the folder is gone.
    """
    # Without its .git, git would walk up and answer for a repository that the folder happens to lie in.
    there = [os.path.exists(f"{path}/.git") for path in paths]  # noqa: PTH110
    asked = begin_asking(runner, [path for path, is_there in zip(paths, there, strict=True) if is_there], _QUESTION)

    def answers() -> list[WorktreeStatus | None]:
        outputs = iter(asked())
        return [
            _status(next(outputs)) if is_there else _lost(path) for path, is_there in zip(paths, there, strict=True)
        ]

    return answers


def stands_on(fields: Iterable[str]) -> tuple[str, str | None]:
    """The commit (`UNBORN`: none yet) and the branch (None: detached) that the head of `git status` names."""
    oid, branch = "", None
    for field in takewhile(lambda field: field.startswith("#"), fields):
        if field.startswith("# branch.oid "):
            oid = field.removeprefix("# branch.oid ")
        elif field.startswith("# branch.head "):
            name = field.removeprefix("# branch.head ")
            branch = None if name == "(detached)" else name
    return oid, branch


def _lost(path: Path) -> WorktreeStatus | None:
    why = unseen(path)
    if not why and not is_folder(path):
        return None
    problem = f"cannot be looked at: {why}" if why else "is no worktree any more: its .git is gone"
    return WorktreeStatus(None, None, None, None, f"{path} {problem}")


def _status(answer: Output) -> WorktreeStatus:
    return WorktreeStatus(None, None, None, None, answer.words) if answer.code else _parse(answer.fields)


def _parse(fields: list[str]) -> WorktreeStatus:
    oid, branch = stands_on(fields)
    changes = sum(not field.startswith("#") for field in fields)
    return WorktreeStatus(None if oid in ("", UNBORN) else oid, branch, changes, None)


def _commit_and_parents(text: str) -> Iterable[tuple[str, list[str]]]:
    for line in text.splitlines():
        oid, *parents = line.split()
        yield oid, parents


def _reachable(head: str, graph: dict[str, list[str]]) -> int:
    seen: set[str] = set()
    rest = [head]
    while rest:
        oid = rest.pop()
        if oid in graph and oid not in seen:
            seen.add(oid)
            rest += graph[oid]
    return len(seen)
