"""The one guard in front of everything that removes: only a linked worktree of this very repository passes."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from fan.errors import Blocked, Conflict, FanError, NotAllowed, NotFound
from fan.world.files import must_see
from fan.world.git.admin import Entry, entries, entry_at, points_to, read_line, real
from fan.world.git.values import Identity

if TYPE_CHECKING:
    from fan.world.git.repository import Repository

NOT_REMOVED = "nothing was removed"


def linked(repo: Repository, path: Path) -> Entry:
    """The entry of the linked worktree at `path`. Raises NotAllowed for anything else, NotFound for nothing."""
    must_see(path, NOT_REMOVED)
    if path.is_symlink():
        raise _refusal(f"{path} is a symbolic link to {path.readlink()}; it is not followed")
    if not path.is_dir():
        raise NotFound(f"there is no folder {path}", not_done=NOT_REMOVED)
    place = real(path)
    if place in (repo.root, repo.common_dir) or (path / ".git").is_dir():
        raise _refusal(f"{path} is the repository itself, not one of its linked worktrees")
    entry = _entry(repo, path)
    _refuse_others_inside(repo, place, entry)
    return entry


def identity(path: Path) -> Identity:
    """What tells this folder from another one that later stands at the same path."""
    must_see(path, NOT_REMOVED)
    try:
        seen = path.lstat()
    except OSError as error:
        raise NotFound(f"there is no folder {path}", not_done=NOT_REMOVED) from error
    return Identity(seen.st_dev, seen.st_ino, read_line(path / ".git") or "")


def locked(path: Path, reason: str) -> Blocked:
    """The refusal of a worktree that somebody has locked, for a reason or (empty) without one."""
    return Blocked(
        f"{path} is locked in git{f': {reason}' if reason else ''}",
        not_done=NOT_REMOVED,
        hint=f"git worktree unlock {shlex.quote(str(path))}",
    )


def same(path: Path, expect: Identity | None) -> None:
    """Raises Conflict when the folder is not the one that was looked at."""
    if expect is not None and identity(path) != expect:
        raise Conflict(
            f"{path} is not the folder that was looked at; it was replaced meanwhile",
            not_done=NOT_REMOVED,
            hint="fan ls",
        )


def _entry(repo: Repository, path: Path) -> Entry:
    folder = points_to(path / ".git")
    if folder is None:
        raise _refusal(f"{path} is no linked worktree: its .git file is missing or names no git folder")
    if folder.parent != Path(os.path.realpath(repo.common_dir / "worktrees")):
        raise _refusal(f"{path} belongs to another repository, at {folder}")
    entry = entry_at(folder)
    if entry is None or entry.gitfile != real(path) / ".git":
        raise _refusal(f"{path} is not where git keeps that worktree: {entry.gitfile if entry else folder}")
    return entry


def _refuse_others_inside(repo: Repository, place: Path, own: Entry) -> None:
    others = [entry.gitfile.parent for entry in entries(repo.common_dir) if entry != own]
    for other in (repo.root, repo.common_dir, *others):
        if other.is_relative_to(place):
            raise _refusal(f"{place} holds another worktree inside, at {other}; that one has to go first")


def _refusal(message: str) -> FanError:
    return NotAllowed(message, not_done=NOT_REMOVED, hint="git worktree list")
