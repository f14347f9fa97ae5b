"""Reads what git lists: worktrees, branches, and what a new worktree will lack."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from fan.errors import GitFailed
from fan.world.git.admin import read_line
from fan.world.git.run import Runner
from fan.world.git.values import Travel, Worktree

TRAVEL_LIMIT = 5.0
_SHOWN = 10
HEADS = "refs/heads/"


def worktrees(common: Runner) -> list[Worktree]:
    """All worktrees of the repository, the main one (or the bare hub) first."""
    listing = common.run("worktree", "list", "--porcelain", "-z")
    return [_worktree(block, main=index == 0) for index, block in enumerate(_blocks(listing))]


def others(common: Runner, common_dir: Path, root: Path, known: Collection[str]) -> list[Worktree]:
    """All worktrees, the main one first, but those at a `known` path.

    git is asked only where there is another than the main one: of a hundred it reads every file.
    """
    main = _main(common_dir, root)
    if main is None or any(path not in known for path in _linked(common_dir)):
        return [tree for tree in worktrees(common) if tree.main or str(tree.path) not in known]
    return [main]


def _main(common_dir: Path, root: Path) -> Worktree | None:
    """The main worktree by its HEAD file; None where only git can tell."""
    head = read_line(common_dir / "HEAD") or ""
    branch = head.removeprefix(f"ref: {HEADS}")
    if branch == head or branch.startswith("."):
        return None  # detached, or a repository whose refs are not files
    return Worktree(root, oid="", branch=branch, main=True, bare=False, locked=None, prunable=None)


def _linked(common_dir: Path) -> Iterator[str]:
    """Where the linked worktrees lie, as git has written it."""
    folder = os.path.join(common_dir, "worktrees")  # noqa: PTH118 - pathlib costs more than the reading
    for name in os.listdir(folder) if os.path.isdir(folder) else ():  # noqa: PTH112, PTH208
        with suppress(FileNotFoundError, NotADirectoryError), open(f"{folder}/{name}/gitdir", "rb") as file:  # noqa: PTH123
            yield os.fsdecode(file.read()).removesuffix("\n").removesuffix("/.git")


def branches(common: Runner) -> dict[str, str]:
    """All local branches with the commit each is at."""
    listing = common.run("for-each-ref", "--format=%(objectname) %(refname)", HEADS)
    pairs = (line.split(" ", 1) for line in listing.splitlines())
    return {name.removeprefix(HEADS): oid for oid, name in pairs}


def untracked(here: Runner, *, ignored: bool) -> list[str]:
    """What git does not track, or of that only what it ignores; whole folders end in `/`."""
    only = ("--ignored", "--exclude-standard") if ignored else ()
    return [*dict.fromkeys(here.run("ls-files", "-z", "--others", "--directory", *only).split("\0"))][:-1]


def unignored(here: Runner, names: Collection[str]) -> list[str]:
    """Those of `names` that git would show as untracked."""
    if not names:
        return []
    answer = here.ask("check-ignore", "-z", "--stdin", feed="".join(f"{name}\0" for name in names))
    return sorted(set(names) - set(answer.fields))


def travel(here: Runner, but: Collection[str] = ()) -> Travel:
    """What a new worktree will not get from `here` but for `but`; incomplete when git takes over five seconds."""
    try:
        answer = here.ask(
            "status",
            "--porcelain=v2",
            "-z",
            "--no-renames",
            "--untracked-files=normal",
            "--ignored=traditional",
            limit=TRAVEL_LIMIT,
        )
    except GitFailed:
        return Travel(complete=False)
    if answer.code:
        return Travel(complete=False)
    kinds = [(field[:2], field[2:]) for field in answer.fields]
    untracked = [name for kind, name in kinds if kind == "? " and name.rstrip("/") not in but]
    ignored = [name for kind, name in kinds if kind == "! " and name.rstrip("/") not in but]
    return Travel(
        changed=sum(kind not in ("? ", "! ") for kind, _ in kinds),
        untracked=len(untracked),
        untracked_names=tuple(untracked[:_SHOWN]),
        ignored=len(ignored),
        ignored_names=tuple(ignored[:_SHOWN]),
    )


def _blocks(listing: str) -> Iterator[dict[str, str]]:
    for block in listing.split("\0\0"):
        lines = [line.partition(" ") for line in block.split("\0") if line]
        if lines:
            yield {key: value for key, _, value in lines}


def _worktree(block: dict[str, str], *, main: bool) -> Worktree:
    branch = block.get("branch")
    return Worktree(
        path=Path(block["worktree"]),
        oid=block.get("HEAD", ""),
        branch=None if branch is None else branch.removeprefix(HEADS),
        main=main,
        bare="bare" in block,
        locked=block.get("locked"),
        prunable=block.get("prunable"),
    )
