"""The folder in which a member in a sandbox leaves requests, and in which the answers come.

`ID.request` is left whole, `ID.taken` is being done, `ID.answer` is there to be read. Whoever sits in the sandbox can
put anything into it: nothing in it is followed, and only what is read from an open regular file counts.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from fan.core.requests import LARGEST_ANSWER, LARGEST_REQUEST, REQUEST, Answer, Request
from fan.errors import DiskFailed, TooLarge, UsageError
from fan.world.files import write_whole

OLD = 3600.0
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def leave(folder: Path, request_id: str, request: Request) -> None:
    """Leave a request, whole. Raises UsageError, TooLarge, DiskFailed."""
    try:
        data = msgspec.json.encode(request)
    except UnicodeEncodeError as error:
        raise UsageError("the command line holds bytes that are not UTF-8", not_done="nothing was done") from error
    if len(data) > LARGEST_REQUEST:
        raise TooLarge(
            f"the request has {len(data)} bytes, {LARGEST_REQUEST} is the most", not_done="nothing was done"
        )
    write_whole(folder / f"{request_id}.request", data)


def withdraw(folder: Path, request_id: str) -> bool:
    """Whether a request was taken back before anybody had taken it."""
    try:
        (folder / f"{request_id}.request").unlink()
    except FileNotFoundError:
        return False
    return True


def is_there(folder: Path, request_id: str) -> bool:
    """Whether the request waits, or somebody is about it."""
    return any((folder / f"{request_id}.{ending}").exists() for ending in ("request", "taken"))


def answered(folder: Path, request_id: str) -> Answer | None:
    """The answer, once it is there; it is then gone. Raises DiskFailed for one that makes no sense."""
    file = folder / f"{request_id}.answer"
    try:
        data = _read(file, 2 * LARGEST_ANSWER)
    except FileNotFoundError:
        return None
    file.unlink(missing_ok=True)
    try:
        return msgspec.json.decode(data, type=Answer)
    except msgspec.DecodeError as error:
        raise DiskFailed(f"the answer in {folder} cannot be read: {error}", not_done="") from error


class Taken:
    """A request that this process alone is about: its file is locked and renamed. `again`: somebody was before."""

    def __init__(self, folder: Path, request_id: str, handle: int, *, again: bool) -> None:
        self.folder, self.id, self.again, self._handle = folder, request_id, again, handle

    def read(self) -> Request:
        """What is asked for. Raises UsageError when it makes no sense."""
        data = b""
        while len(data) <= LARGEST_REQUEST and (more := os.read(self._handle, 65536)):
            data += more
        if len(data) > LARGEST_REQUEST:
            raise UsageError("the request is too large", not_done="nothing was done")
        try:
            return msgspec.json.decode(data, type=Request)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"the request makes no sense: {error}", not_done="nothing was done") from error

    def answer(self, answer: Answer) -> None:
        """Put the answer beside it, whole; the request is then done."""
        write_whole(self.folder / f"{self.id}.answer", msgspec.json.encode(answer))
        (self.folder / f"{self.id}.taken").unlink(missing_ok=True)

    def is_fetched(self) -> bool:
        """Whether the answer was read by who asked."""
        return not (self.folder / f"{self.id}.answer").exists()


def take(folder: Path, name: str) -> Taken | None:
    """Take the request in the file `name`; None where somebody else has. What is no regular file is removed."""
    found = REQUEST.fullmatch(name)
    if found is None:
        return None
    file = folder / name
    try:
        handle = os.open(file, _FLAGS)
    except OSError as error:
        if error.errno != errno.ENOENT:
            discard(file)
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            discard(file)
            return None
        file.rename(folder / f"{found[1]}.taken")
    except OSError:
        os.close(handle)
        return None
    return Taken(folder, found[1], handle, again=found[2] == "taken")


def discard(file: Path) -> None:
    """Remove whatever lies there, but for a folder: sandboxes put some of their own into what they may write."""
    with suppress(OSError):
        file.unlink()


def waiting(folder: Path) -> list[str]:
    """The names of the requests there, those that are being done too."""
    try:
        return sorted(name for name in os.listdir(folder) if REQUEST.fullmatch(name))  # noqa: PTH208 - names alone
    except OSError:
        return []


def sweep(folder: Path, now: float) -> None:
    """Remove what has lain there for an hour: answers that nobody came for, and what is none of ours."""
    for file in _entries(folder):
        with suppress(OSError):
            if now - file.lstat().st_mtime > OLD:
                discard(file)


def _entries(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from list(folder.iterdir())


def _read(file: Path, largest: int) -> bytes:
    handle = os.open(file, _FLAGS)
    with os.fdopen(handle, "rb") as opened:
        return opened.read(largest)
