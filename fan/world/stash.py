"""The stash's files: `stash/<room>/<sha256>/<name>`, written whole or not at all and checked when they are read.

Whoever adds or takes away files and their rows holds the lock, so that neither is ever without the other but for a
crash, after which `sweep` takes the left-overs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from fan.core.stash import LARGEST_FILE, Stashed, folder_of, safe_name
from fan.errors import Busy, DiskFailed, NotAllowed, NotFound, TooLarge, UsageError
from fan.world import locks
from fan.world.files import private_folder

CHUNK = 1 << 20
LOCK = ".lock"
COPYING = ".put-"
LOCK_PATIENCE = 30.0
OLD = 86400.0
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Copied(Struct, frozen=True):
    """A whole copy that has no name yet."""

    path: Path
    sha256: str
    size: int


class Stash:
    """The files below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def locked(self) -> AbstractContextManager[None]:
        """Nobody else adds or takes away meanwhile. Raises Busy."""
        taken = Busy("the stash is in use by another fan", not_done="nothing was done")
        return locks.held(private_folder(self.folder) / LOCK, LOCK_PATIENCE, taken)

    def path(self, one: Stashed) -> Path:
        """Where its bytes lie, or would lie."""
        return self.folder / folder_of(one.room) / one.sha256 / safe_name(one.name)

    @contextmanager
    def copied(self, source: int) -> Iterator[Copied]:
        """A copy of the open regular file `source`; dropped at the end unless it was placed.

        Raises TooLarge above 16 MiB, DiskFailed when it changes meanwhile or cannot be copied.
        """
        file = private_folder(self.folder) / f"{COPYING}{os.getpid()}-{secrets.token_hex(8)}"
        try:
            with _disk_failures("the stash"):
                digest, size = _copy(source, file)
            yield Copied(file, digest, size)
        finally:
            file.unlink(missing_ok=True)

    def place(self, copy: Copied, one: Stashed) -> Path:
        """Give a copy its place, under the lock; where it then lies."""
        path = self.path(one)
        private_folder(path.parent.parent)
        with _disk_failures(str(path)):
            private_folder(path.parent)
            copy.path.replace(path)
            for folder in (path.parent, path.parent.parent, self.folder):
                _sync(folder)
        return path

    def remove(self, gone: Iterable[Stashed]) -> None:
        """Delete files, under the lock; no error where they are away already."""
        for one in gone:
            shutil.rmtree(self.path(one).parent, ignore_errors=True)

    def read(self, one: Stashed) -> bytes:
        """Its bytes. Raises NotFound when they are away, DiskFailed when they are no longer what was put."""
        handle = open_regular(self.path(one))
        with os.fdopen(handle, "rb") as file, _disk_failures(str(self.path(one))):
            data = file.read(LARGEST_FILE + 1)
        if hashlib.sha256(data).hexdigest() != one.sha256:
            raise DiskFailed(
                f"{self.path(one)} was changed since it was stashed", not_done="nothing was read", hint="fan stash ls"
            )
        return data

    def sweep(self, kept: Iterable[Stashed], now: float) -> None:
        """Take away, under the lock, what no row keeps: files of rooms that have ended, and broken-off copies."""
        if not self.folder.is_dir():
            return
        wanted = {self.path(one).parent for one in kept}
        left_over = [place for room in _folders(self.folder) for place in _folders(room) if place not in wanted]
        left_over += [room for room in _folders(self.folder) if not any(one.parent == room for one in wanted)]
        for place in left_over:
            shutil.rmtree(place, ignore_errors=True)
        for file in self.folder.glob(f"{COPYING}*"):
            if _is_broken_off(file, now):
                file.unlink(missing_ok=True)


def open_regular(path: Path, within: Path | None = None) -> int:
    """A descriptor of the regular file at `path`; with `within`, only if it really lies in that folder.

    Links are followed before, never while it is opened: whoever swaps one in meanwhile gets a refusal.
    Raises NotFound, NotAllowed, UsageError, DiskFailed.
    """
    try:
        real = path.resolve(strict=True)
        _must_be_regular(real.lstat(), path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no file {path}", not_done="nothing was handed over") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise DiskFailed(f"{path} cannot be read: {error}", not_done="nothing was handed over") from error
    if within is not None and not real.is_relative_to(within):
        raise NotAllowed(
            f"{path} does not lie in {within}",
            not_done="nothing was handed over",
            hint=f"cp {shlex.quote(str(path))} {shlex.quote(str(within))}",
        )
    try:
        handle = os.open(real, _FLAGS) if within is None else _descend(within, real.relative_to(within).parts)
    except OSError as error:
        what = "it was changed meanwhile" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
        raise DiskFailed(f"{path} cannot be read: {what}", not_done="nothing was handed over") from error
    try:
        _must_be_regular(os.fstat(handle), path)
    except UsageError:
        os.close(handle)
        raise
    return handle


def digest_of(handle: int) -> tuple[str, int]:
    """The sha256 and the number of the bytes of an open file."""
    digest, size = hashlib.sha256(), 0
    while chunk := os.read(handle, CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def _must_be_regular(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        hint = f"tar -czf FILE.tgz {shlex.quote(str(path))}" if stat.S_ISDIR(found.st_mode) else ""
        raise UsageError(f"{path} is {kind}", not_done="nothing was handed over", hint=hint)


def _descend(folder: Path, parts: tuple[str, ...]) -> int:
    """Open a file part by part, so that no folder on the way can be replaced by a link."""
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for number, part in enumerate(parts, 1):
        flags = _FLAGS if number == len(parts) else _FLAGS | os.O_DIRECTORY
        try:
            inner = os.open(part, flags, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


def _copy(source: int, file: Path) -> tuple[str, int]:
    before = os.fstat(source)
    digest, size = hashlib.sha256(), 0
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
    with os.fdopen(target, "wb") as out:
        while chunk := os.read(source, CHUNK):
            size += len(chunk)
            if size > LARGEST_FILE:
                raise TooLarge(
                    f"the file has more than {LARGEST_FILE >> 20} MiB, the most that is stashed;"
                    " a larger one is told of by its path",
                    not_done="nothing was stashed",
                )
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    after = os.fstat(source)
    if (size, after.st_size, after.st_mtime_ns) != (before.st_size, before.st_size, before.st_mtime_ns):
        raise DiskFailed("the file was written to while it was copied", not_done="nothing was stashed")
    return digest.hexdigest(), size


@contextmanager
def _disk_failures(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskFailed(f"{what} cannot be used: {error.strerror}", not_done="nothing was done") from error


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _folders(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError):
        return [one for one in folder.iterdir() if one.is_dir() and not one.is_symlink()]
    return []


def _is_broken_off(file: Path, now: float) -> bool:
    """Whether whoever made this copy is there no more."""
    pid = file.name.removeprefix(COPYING).partition("-")[0]
    try:
        os.kill(int(pid), 0)
        return now - file.lstat().st_mtime > OLD
    except (ValueError, ProcessLookupError):
        return True
    except (PermissionError, FileNotFoundError):
        return False
