"""Private files and folders, written whole or not at all."""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path

from fan.errors import AlreadyExists, DiskFailed, NotAllowed


def private_folder(path: Path) -> Path:
    """`path` as a folder that only the user can enter; made when it is missing, and so are its parents.

    Raises NotAllowed when somebody else owns it, DiskFailed when it cannot be made.
    """
    try:
        for folder in reversed([path, *takewhile(lambda parent: not parent.exists(), path.parents)]):
            folder.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise DiskFailed(
            f"the folder {path} cannot be made: {error.strerror}", not_done="nothing was made"
        ) from error
    if found.st_uid != os.getuid() or not path.is_dir() or path.is_symlink():
        raise NotAllowed(
            f"the folder {path} does not belong to you", not_done="nothing was made", hint="set FAN_RUNTIME_DIR"
        )
    if found.st_mode & 0o077:
        path.chmod(0o700)
    return path


def write_private(path: Path, text: str) -> None:
    """Replace `path` by a file that holds `text`, readable by the user alone, whole or not at all."""
    private_folder(path.parent)
    _write(path, text)


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
    _write(path, text, mode=0o700)


def write_prompt(folder: Path, name: str, text: str) -> str:
    """Put a prompt too large to paste into a worktree, where git does not see it; its path from there."""
    own = folder / ".fan"
    if own.is_symlink():
        raise NotAllowed(f"{own} is a link; a large prompt would land elsewhere", not_done="the prompt was not sent")
    try:
        own.mkdir(exist_ok=True)
    except OSError as error:
        raise DiskFailed(f"{own} cannot be made: {error.strerror}", not_done="the prompt was not sent") from error
    _write(own / ".gitignore", "*\n")
    _write(own / name, text)
    return f".fan/{name}"


def which(name: str, path: str | None) -> str | None:
    """The program that a shell would run for `name` with this PATH; `shutil`, which knows it too, loads slowly."""
    places = os.environ.get("PATH", os.defpath) if path is None else path
    for place in [""] if os.sep in name else places.split(os.pathsep) if places else ():
        file = os.path.join(place, name)  # noqa: PTH118
        if os.path.isfile(file) and os.access(file, os.X_OK):  # noqa: PTH113
            return file
    return None


def free_bytes(path: Path) -> int:
    """What is left on the disk that `path` (or the nearest folder above it that exists) lies on."""
    import shutil

    return shutil.disk_usage(_nearest(path)).free


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


def _nearest(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def read_text(path: Path) -> str:
    """The text of a file of the person's. Raises DiskFailed."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DiskFailed(f"{path} cannot be read: {error}", not_done="nothing was made") from error


def _write(path: Path, text: str, *, mode: int = 0o600) -> None:
    import tempfile

    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text)
                os.fchmod(file.fileno(), mode)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DiskFailed(f"{path} cannot be written: {error.strerror}", not_done="it was left as it was") from error
