"""Carries files that git does not have from one checkout into another: copied, or linked."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fan.core.patterns import Pattern, covers, fits, parse, spells_out
from fan.core.setup import Setup
from fan.errors import DiskFailed
from fan.world.git import Repository
from fan.world.git.work import DEPENDENCIES

OWN = ".fan"
_FICLONE = 0x40049409


def to_copy(repo: Repository, setup: Setup) -> list[str]:
    """What its patterns mean in the place we stand in, sorted: files and links that git does not track.

    Dependency folders are entered only where a pattern spells them out, repositories inside never.
    """
    if repo.top is None:
        return []
    found: set[str] = set()
    for lines, ignored in ((setup.keys.copy, False), (setup.include, True)):
        if lines:
            found.update(_files(repo.top, repo.untracked(repo.top, ignored=ignored), parse(lines)))
    return sorted(found)


def to_link(repo: Repository, setup: Setup) -> list[str]:
    """What its patterns mean in the main checkout, sorted: files, links and whole folders."""
    if repo.bare or not setup.keys.link:
        return []
    wanted = parse(setup.keys.link)
    return sorted(set(_entries(repo.root, repo.untracked(repo.root, ignored=False), wanted)))


def copy(source: Path, target: Path, names: Iterable[str]) -> list[str]:
    """Copy `names` with modes and times, links as links; what is there already stays and is given back.

    Raises DiskFailed.
    """
    passed = []
    for name in names:
        if not _place(source, target, name) or os.path.lexists(target / name):
            passed.append(name)
        else:
            _copy(source / name, target / name)
    return passed


def link(source: Path, target: Path, names: Iterable[str]) -> list[str]:
    """Have `names` below `target` lead to those below `source`; what is there already stays and is given back.

    Raises DiskFailed.
    """
    passed = []
    for name in names:
        if not _place(source, target, name) or os.path.lexists(target / name):
            passed.append(name)
            continue
        try:
            (target / name).symlink_to(source / name)
        except OSError as error:
            raise DiskFailed(f"{target / name} cannot be linked: {error.strerror}") from error
    return passed


def _files(top: Path, entries: Sequence[str], wanted: Sequence[Pattern]) -> Iterator[str]:
    for entry in entries:
        name = entry.rstrip("/")
        hit = covers(wanted, name, folder=entry.endswith("/"))
        if entry.endswith("/"):
            yield from _inside(top, name, wanted, hit=hit)
        elif hit and _open(name.rpartition("/")[0], wanted):
            yield name


def _inside(top: Path, folder: str, wanted: Sequence[Pattern], *, hit: bool) -> Iterator[str]:
    """The files below a folder; all of them where the folder itself is meant."""
    for child in _children(top, folder, wanted):
        name = f"{folder}/{child.name}"
        is_folder = child.is_dir(follow_symlinks=False)
        meant = hit or fits(wanted, name, folder=is_folder)
        if is_folder:
            yield from _inside(top, name, wanted, hit=meant)
        elif meant and (child.is_symlink() or child.is_file(follow_symlinks=False)):
            yield name


def _entries(top: Path, entries: Sequence[str], wanted: Sequence[Pattern]) -> Iterator[str]:
    """The topmost files and folders that are meant."""
    for entry in entries:
        name = entry.rstrip("/")
        if covers(wanted, name, folder=entry.endswith("/")):
            if not entry.endswith("/") or _may_enter(top, name, wanted):
                yield name
        elif entry.endswith("/"):
            inside = _children(top, name, wanted)
            below = [f"{name}/{one.name}{'/' * one.is_dir(follow_symlinks=False)}" for one in inside]
            yield from _entries(top, below, wanted)


def _children(top: Path, folder: str, wanted: Sequence[Pattern]) -> list[os.DirEntry[str]]:
    if not _may_enter(top, folder, wanted):
        return []
    try:
        with os.scandir(top / folder) as found:
            return sorted(found, key=lambda one: one.name)
    except OSError as error:
        raise DiskFailed(f"{top / folder} cannot be read: {error.strerror}", not_done="nothing was made") from error


def _may_enter(top: Path, folder: str, wanted: Sequence[Pattern]) -> bool:
    return _open(folder, wanted) and not os.path.lexists(top / folder / ".git")


def _open(folder: str, wanted: Sequence[Pattern]) -> bool:
    """Whether no part of the path is a dependency folder that was not spelled out, or ours."""
    parts = folder.split("/")
    closed = {OWN} | {name for name in DEPENDENCIES.intersection(parts) if not spells_out(wanted, name)}
    return closed.isdisjoint(parts)


def _place(source: Path, target: Path, name: str) -> bool:
    """Make the folders that `name` lies in, as they are at the source; False where a link or a file is in the way."""
    for above in reversed(Path(name).parents[:-1]):
        folder = target / above
        try:
            folder.mkdir(mode=(source / above).stat().st_mode & 0o777)
        except FileExistsError:
            if folder.is_symlink() or not folder.is_dir():
                return False
        except OSError as error:
            raise DiskFailed(f"{folder} cannot be made: {error.strerror}") from error
    return True


def _copy(source: Path, target: Path) -> None:
    try:
        if source.is_symlink():
            target.symlink_to(source.readlink())
            return
        into = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with source.open("rb") as old, os.fdopen(into, "wb") as new:
            if not _cloned(old.fileno(), new.fileno()):
                shutil.copyfileobj(old, new, 1024 * 1024)
        shutil.copystat(source, target)
    except OSError as error:
        with suppress(OSError):
            target.unlink()
        raise DiskFailed(f"{source} cannot be copied to {target}: {error.strerror}") from error


def _cloned(source: int, target: int) -> bool:
    """Whether the file system shares the content between the two."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False  # most file systems cannot
    return True
