"""What the git door answers with. Object ids are full hex; branches are short names without `refs/heads/`."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

UNBORN = "(initial)"
"""What `git status` calls the commit of a branch that has none."""


class Head(Struct, frozen=True):
    """What a place stands on; `branch` is None when HEAD is detached."""

    oid: str
    branch: str | None


class Commit(Struct, frozen=True):
    """One commit, by id and first line."""

    oid: str
    subject: str


class Worktree(Struct, frozen=True):
    """One entry of `git worktree list`; `locked` and `prunable` hold git's reason, empty for none."""

    path: Path
    oid: str
    branch: str | None
    main: bool
    bare: bool
    locked: str | None
    prunable: str | None


class Travel(Struct, frozen=True):
    """What a new worktree does not get from the place we stand in.

    Names are at most ten a list, folders collapsed. `complete` is False when git took too long or failed to tell.
    """

    changed: int = 0
    untracked: int = 0
    untracked_names: tuple[str, ...] = ()
    ignored: int = 0
    ignored_names: tuple[str, ...] = ()
    complete: bool = True


class Created(Struct, frozen=True):
    """A complete worktree. `warnings` are sentences for the person, in the order they arose."""

    path: Path
    branch: str
    oid: str
    warnings: tuple[str, ...] = ()


class WorktreeStatus(Struct, frozen=True):
    """One worktree now. `changes` counts changed and untracked paths, an untracked folder as one.

    None means that git could not tell; `problem` then has its words.
    """

    oid: str | None
    branch: str | None
    changes: int | None
    ahead: int | None
    problem: str = ""


class Identity(Struct, frozen=True):
    """What must still be so when a folder that was looked at is removed."""

    device: int
    inode: int
    gitfile: str


class Work(Struct, frozen=True):
    """What a worktree holds that its base does not: what would be missed.

    `commits` are the newest first, at most 20 of `ahead`. Names are at most 20 a list, counts are whole.
    `links` are symbolic links that git ignores, or that lead to the same place in the main checkout, and
    `dependencies` ignored folders that a tool makes again; neither counts as work. `problems` are submodules and
    nested repositories with work of their own.
    """

    path: Path
    identity: Identity
    oid: str
    branch: str | None
    ahead: int
    commits: tuple[Commit, ...]
    staged: tuple[str, ...]
    staged_count: int
    modified: tuple[str, ...]
    modified_count: int
    untracked: tuple[str, ...]
    untracked_count: int
    links: tuple[str, ...]
    ignored: tuple[str, ...]
    ignored_count: int
    dependencies: tuple[str, ...]
    problems: tuple[str, ...]
    operation: str | None
    stashes: tuple[str, ...]
    locked: str | None

    @property
    def dirty(self) -> bool:
        """Whether anything is uncommitted, ignored files left aside."""
        return bool(self.staged_count or self.modified_count or self.untracked_count or self.operation)

    @property
    def any(self) -> bool:
        """Whether removal takes something away from where the person would look for it."""
        return bool(self.dirty or self.ahead or self.ignored_count or self.problems)


class Removed(Struct, frozen=True):
    """A worktree that is gone from its place. `refs` maps `head`, `index`, `tree` to ids; empty if discarded."""

    archive: str
    path: Path
    branch: str | None
    oid: str
    trash: Path | None
    refs: dict[str, str]
    notes: tuple[str, ...] = ()


class Restored(Struct, frozen=True):
    """A worktree that is back; `notes` say what differs from what was removed."""

    path: Path
    branch: str | None
    oid: str
    notes: tuple[str, ...] = ()


class Merge(Struct, frozen=True):
    """One merge that is asked for: the commit `oid`, which is `branch` or on none, into the branch `into`.

    `how` is `merge`, `squash` or `ff-only`; `message` is that of the one commit of a squash. Where no checkout
    has `into`, one of ours is made at `scratch` meanwhile; those in `closed` are nobody's to merge in.
    """

    oid: str
    branch: str | None
    into: str
    how: str
    message: str
    scratch: Path
    closed: frozenset[Path]


class Merged(Struct, frozen=True):
    """A merge of the commit `source`: the branch `into` stood at `was` and stands at `commit`.

    `how` is `merge`, `fast-forward` or `squash`, or `nothing` where the branch had all of it already.
    """

    into: str
    commit: str
    how: str
    was: str
    source: str


class Archive(Struct, frozen=True):
    """A removal on record; `at` is in seconds since the epoch. `refs` maps `head`, `index`, `tree` to ids."""

    name: str
    path: Path
    branch: str | None
    oid: str
    at: float
    refs: dict[str, str]
    base: str = ""


class Contents(Struct, frozen=True):
    """What an archive holds beyond its base: commits, the newest first and at most 20, and files by name.

    A file that is gone counts as well. `trash_files` and `trash_bytes` are of the whole folder in the trash.
    """

    commits: tuple[Commit, ...]
    files: tuple[str, ...]
    trash_files: int
    trash_bytes: int
