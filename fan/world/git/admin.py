"""The administrative folder of a linked worktree, `worktrees/NAME` in the common git folder."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from fan.errors import DiskFailed


class Entry(Struct, frozen=True):
    """One administrative folder; `gitfile` is the `.git` file it points back to."""

    folder: Path
    gitfile: Path

    @property
    def locked(self) -> str | None:
        """Why the person locked it; empty when they gave no reason, None when it is not locked."""
        return read_line(self.folder / "locked")


def real(path: Path) -> Path:
    """The path with its folder's links resolved; the last part stays, were it a link itself."""
    return Path(os.path.realpath(path.parent)) / path.name


def read_line(file: Path) -> str | None:
    """A one-line file of git's without its line end; None when it is missing."""
    try:
        return os.fsdecode(file.read_bytes()).removesuffix("\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DiskFailed(f"cannot read {file}: {error.strerror}") from error


def entry_at(folder: Path) -> Entry | None:
    """The entry kept in `folder`; None when it is half-made. Links may be relative (git 2.48)."""
    target = read_line(folder / "gitdir")
    if not target:
        return None
    gitfile = folder / target
    return Entry(folder, real(Path(os.path.normpath(gitfile.parent))) / gitfile.name)


def entries(common_dir: Path) -> list[Entry]:
    """All entries of linked worktrees, by name."""
    folder = common_dir / "worktrees"
    if not folder.is_dir():
        return []
    found = (entry_at(one) for one in sorted(folder.iterdir()) if one.is_dir())
    return [entry for entry in found if entry is not None]


def find_entry(common_dir: Path, path: Path) -> Entry | None:
    """The entry of the worktree at `path`, whether or not its folder is there."""
    gitfile = real(path) / ".git"
    return next((entry for entry in entries(common_dir) if entry.gitfile == gitfile), None)


def points_to(gitfile: Path) -> Path | None:
    """The administrative folder that a worktree's `.git` file names; None for anything else."""
    if gitfile.is_symlink() or not gitfile.is_file():
        return None
    line = read_line(gitfile) or ""
    if not line.startswith("gitdir: "):
        return None
    return Path(os.path.realpath(gitfile.parent / line.removeprefix("gitdir: ")))


def clear_leftover_lock(entry: Entry) -> None:
    """Takes the lock that `git worktree add` puts on an entry while it works, left by one that was killed."""
    if entry.locked == "initializing":
        (entry.folder / "locked").unlink()
