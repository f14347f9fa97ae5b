"""The door to git. Nothing else in `fan` runs git or imports GitPython."""

from __future__ import annotations

from fan.world.git.door import Git
from fan.world.git.repository import Repository
from fan.world.git.values import (
    Archive,
    Commit,
    Contents,
    Created,
    Head,
    Identity,
    Merge,
    Merged,
    Removed,
    Restored,
    Travel,
    Work,
    Worktree,
    WorktreeStatus,
)

__all__ = [
    "Archive",
    "Commit",
    "Contents",
    "Created",
    "Git",
    "Head",
    "Identity",
    "Merge",
    "Merged",
    "Removed",
    "Repository",
    "Restored",
    "Travel",
    "Work",
    "Worktree",
    "WorktreeStatus",
]
