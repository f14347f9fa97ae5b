"""Reads what git lists: worktrees, branches, and what a new worktree will lack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fan.errors import GitFailed
from fan.world.git.run import Runner
from fan.world.git.values import Travel, Worktree

TRAVEL_LIMIT = 5.0
_SHOWN = 10
HEADS = "refs/heads/"


def worktrees(common: Runner) -> list[Worktree]:
    """All worktrees of the repository, the main one (or the bare hub) first."""
    listing = common.run("worktree", "list", "--porcelain", "-z")
    return [_worktree(block, main=index == 0) for index, block in enumerate(_blocks(listing))]


def branches(common: Runner) -> dict[str, str]:
    """All local branches with the commit each is at."""
    listing = common.run("for-each-ref", "--format=%(objectname) %(refname)", HEADS)
    pairs = (line.split(" ", 1) for line in listing.splitlines())
    return {name.removeprefix(HEADS): oid for oid, name in pairs}


def travel(here: Runner) -> Travel:
    """What a new worktree will not get from `here`; incomplete when git takes more than five seconds."""
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
    untracked = [field[2:] for field in answer.fields if field.startswith("? ")]
    ignored = [field[2:] for field in answer.fields if field.startswith("! ")]
    return Travel(
        changed=len(answer.fields) - len(untracked) - len(ignored),
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
        detached="detached" in block,
        locked=block.get("locked"),
        prunable=block.get("prunable"),
    )
