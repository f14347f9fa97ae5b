"""The worktrees of a repository that are nobody's member: shown, and never candidates for anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fan.core.model import Row, Turn, Typed
from fan.errors import FanError
from fan.verbs.target import Known
from fan.world.files import unseen

if TYPE_CHECKING:
    from fan.verbs.target import Enter
    from fan.world.git import Worktree


def handmade(enter: Enter, repos: Iterable[Path], members: Sequence[Known]) -> list[Row]:
    """A row for each main checkout and each worktree made by hand."""
    own = {str(one.member.path) for one in members}
    found = [(repo, tree) for repo in sorted(repos) for tree in _others(enter, repo, own)]
    # Links are looked through only where there is more than the main checkouts.
    real = {os.path.realpath(path) for path in own} if any(not tree.main for _, tree in found) else set()
    return [_row(repo, tree) for repo, tree in found if tree.main or os.path.realpath(tree.path) not in real]


def _others(enter: Enter, repo: Path, own: set[str]) -> list[Worktree]:
    try:
        return enter(repo).others(own)
    except FanError:
        return []  # the repository is gone or unreadable: its members' rows say so


def _row(repo: Path, tree: Worktree) -> Row:
    what = "the main checkout" if tree.main else "made by hand"
    about = (what, "" if tree.branch else f"detached at {tree.oid[:10]}", _lost(tree))
    return Row(
        id="",
        session="",
        pane="",
        repo=str(repo),
        branch=tree.branch or "",
        path=str(tree.path),
        base="",
        group="",
        agent="",
        state="",
        kind="",
        turn=Turn.NONE.value,
        since=None,
        prompt_status="",
        prompt_note="",
        typed=Typed.NO.value,
        prompt_at=None,
        ready_by="",
        changes=None,
        ahead=None,
        gone=tree.prunable is not None and not unseen(tree.path),
        managed=False,
        detail=", ".join(part for part in about if part),
    )


def _lost(tree: Worktree) -> str:
    if tree.prunable is None:
        return ""
    why = unseen(tree.path)
    return f"its folder cannot be looked at: {why}" if why else "its folder is gone"
