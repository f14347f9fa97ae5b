"""Files and folders: private ones, written whole or not at all, and deleted."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

from fan.errors import AlreadyExists, DiskFailed, NotAllowed


def private_folder(path: Path) -> Path:
    """`path` as a folder that only the user can enter; made when it is missing, and so are its parents.

    Raises NotAllowed when somebody else owns it, DiskFailed when it cannot be made.
    """
    try:
        for folder in reversed([path, *takewhile(lambda parent: not there(parent), path.parents)]):
            folder.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise DiskFailed(
            f"the folder {path} cannot be made: {error.strerror}", not_done="nothing was made"
        ) from error
    if found.st_uid != os.getuid() or not path.is_dir() or path.is_symlink():
        raise NotAllowed(
            f"the folder {path} does not belong to you",
            not_done="nothing was made",
            hint=f"ls -ld {shlex.quote(str(path))}",
        )
    if found.st_mode & 0o077:
        path.chmod(0o700)
    return path


def write_private(path: Path, text: str) -> None:
    """Replace `path` by a file that holds `text`, readable by the user alone, whole or not at all."""
    private_folder(path.parent)
    write_whole(path, _bytes(text))


def write_whole(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace `path` in its folder by a file that holds `data`, whole or not at all. Raises DiskFailed."""
    import tempfile

    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), mode)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DiskFailed(f"{path} cannot be written: {error.strerror}", not_done="nothing was written") from error


def append_private(path: Path, text: str) -> None:
    """Add to a file that the user alone can read; made when it is missing. Raises DiskFailed."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            file.write(_bytes(text))
    except OSError as error:
        raise DiskFailed(f"{path} cannot be written: {error.strerror}", not_done="nothing was written") from error


def write_new(path: Path, data: bytes) -> None:
    """Make a file that was not there. Raises AlreadyExists, DiskFailed; nothing is then left of it."""
    try:
        with path.open("xb") as file:
            try:
                file.write(data)
                file.flush()
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError as error:
        raise AlreadyExists(f"{path} is there already", not_done="nothing was written") from error
    except OSError as error:
        raise DiskFailed(f"{path} cannot be written: {error.strerror}", not_done="nothing was written") from error


def write_program(path: Path, text: str) -> None:
    """Have `path` be a program that holds exactly `text`; left alone when it does already."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    private_folder(path.parent)
    write_whole(path, _bytes(text), mode=0o700)


def write_prompt(folder: Path, name: str, text: str) -> str:
    """Put a prompt too large to paste into a worktree, where git does not see it; its path from there."""
    own = folder / ".fan"
    if own.is_symlink():
        raise NotAllowed(f"{own} is a link; a large prompt would land elsewhere", not_done="the prompt was not sent")
    try:
        own.mkdir(exist_ok=True)
    except OSError as error:
        raise DiskFailed(f"{own} cannot be made: {error.strerror}", not_done="the prompt was not sent") from error
    write_whole(own / ".gitignore", b"*\n")
    write_whole(own / name, _bytes(text))
    return f".fan/{name}"


def delete(path: Path) -> None:
    """Delete a file or a whole folder, folders without permissions included. No error where nothing is.

    Raises DiskFailed.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            _delete_folder(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise DiskFailed(f"cannot delete {error.filename}: {error.strerror}") from error


def there(path: Path) -> bool | None:
    """Whether something is at `path`, were it a link that leads nowhere; None where the system cannot tell.

    Like `is_folder` and `unseen` for paths that are not ours: no file system makes it raise.
    """
    return _asked(path.lstat)[0]


def is_folder(path: Path) -> bool | None:
    """Whether there is a folder at `path`, or a link to one; None where the system cannot tell."""
    is_there, mode, _ = _asked(path.stat)
    return is_there and stat.S_ISDIR(mode)


def unseen(path: Path) -> str:
    """Why the system cannot tell what is at `path` or, were it a folder, in it; empty where it can."""
    return _asked(lambda: os.stat(f"{path}/."))[2]  # noqa: PTH116 - pathlib drops the dot


def must_see(path: Path, not_done: str) -> None:
    """Raises DiskFailed where the system cannot tell what is at `path`, or in it."""
    if why := unseen(path):
        raise DiskFailed(f"{path} cannot be looked at: {why}", not_done=not_done, hint=f"ls -ld '{path}'")


def which(name: str, path: str | None) -> str | None:
    """The program that a shell would run for `name` with this PATH; `shutil`, which knows it too, loads slowly."""
    places = os.environ.get("PATH", os.defpath) if path is None else path
    for place in [""] if os.sep in name else places.split(os.pathsep) if places else ():
        file = os.path.join(place, name)  # noqa: PTH118
        if os.path.isfile(file) and os.access(file, os.X_OK):  # noqa: PTH113
            return file
    return None


def free_bytes(path: Path) -> int:
    """What is left on the disk of `path`, or of the nearest folder above it that exists. Raises DiskFailed."""
    import shutil

    try:
        found = shutil.disk_usage(_nearest(path))
    except OSError as error:
        raise DiskFailed(f"{path} cannot be looked at: {error.strerror}", not_done="nothing was made") from error
    if not found.total:
        raise DiskFailed(
            f"{path} lies on a file system that keeps no files", not_done="nothing was made", hint="df -h"
        )
    return found.free


def is_writable(path: Path) -> bool:
    """Whether something can be made in `path`, or in the nearest folder above it that exists."""
    return os.access(_nearest(path), os.W_OK | os.X_OK)


def is_writable_file(path: Path) -> bool:
    """Whether a file is there and can be written to, found out by opening it: some sandboxes let `access` say yes."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _asked(look: Callable[[], os.stat_result]) -> tuple[bool | None, int, str]:
    """Whether something is there, its mode, and why that cannot be told."""
    try:
        return True, look().st_mode, ""
    except OSError as error:
        # No file system holds a name that is too long for it.
        absent = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
        return (False, 0, "") if absent else (None, 0, error.strerror or str(error))


def _nearest(path: Path) -> Path:
    while _asked(path.stat)[0] is False:
        path = path.parent
    return path


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _delete_folder(path: Path) -> None:
    import shutil

    try:
        shutil.rmtree(path)
    except PermissionError:
        path.chmod(stat.S_IRWXU)
        for place, folders, _files in os.walk(path):
            for folder in (Path(place, name) for name in folders):
                if not folder.is_symlink():
                    folder.chmod(stat.S_IRWXU)
        shutil.rmtree(path)
