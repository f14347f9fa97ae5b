"""Where removed worktrees lie until they are swept: `<trash>/<archive>/{manifest.json,admin,tree}`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from fan.errors import DiskFailed, UsageError
from fan.world.files import delete, is_folder, there
from fan.world.git.admin import read_line
from fan.world.git.files import write_json

_SWEEPING = ".sweep-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that bringing a worktree back takes; `admin` is the name of its entry, `inode` its folder's."""

    archive: str
    path: str
    branch: str | None
    head: str
    base: str
    admin: str
    at: float
    device: int
    inode: int

    def as_line(self) -> str:
        """One line of JSON in ASCII."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Manifest | None:
        """The reverse; None for a line that is something else."""
        try:
            return cls(**json.loads(line))
        except (ValueError, TypeError):
            return None


def check_name(archive: str) -> None:
    """Raises UsageError for an archive name that is not one plain word."""
    plain = archive.replace("-", "").replace("_", "").replace(".", "")
    if not plain.isascii() or not plain.isalnum() or archive.startswith((".", "-")) or ".." in archive:
        raise UsageError(f"{archive!r} cannot name an archive: letters, digits, '-', '_' and '.' only")
    if archive.endswith((".lock", ".")):
        raise UsageError(f"{archive!r} cannot name an archive: git keeps that ending for itself")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes it durably, as a whole."""
    write_json(folder / "manifest.json", asdict(manifest))


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in a trash folder; None when there is none."""
    try:
        return Manifest.from_line((folder / "manifest.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DiskFailed(f"cannot read {folder / 'manifest.json'}: {error.strerror}") from error


def left_from(cwd: Path) -> Path | None:
    """The git folder of the repository whose removed worktree has `cwd` in it; None for a place elsewhere."""
    for tree in (cwd, *cwd.parents):
        manifest = read_manifest(tree.parent) if tree.name == "tree" else None
        if manifest is not None:
            link = (read_line(tree / ".git") or "").removeprefix("gitdir: ")
            common = Path(os.path.normpath(Path(manifest.path, link))).parent.parent
            return common if link and is_folder(common) else None
    return None


def sweep(trash: Path, older_than: float, now: float) -> None:
    """Deletes what was removed more than `older_than` seconds before `now`, and what was half-deleted. Refs stay."""
    for folder in _folders(trash) if is_folder(trash) else ():
        if folder.name.startswith(_SWEEPING):
            delete(folder)
        elif now - _removed_at(folder) >= older_than:
            throw_away(folder)


def throw_away(folder: Path) -> None:
    """Deletes a place in the trash under another name, so that a half-deleted one is never brought back.

    One that cannot be looked at stays. Raises DiskFailed.
    """
    if there(folder):
        delete(_renamed(folder))


def weight(folder: Path) -> tuple[int, int]:
    """How many files a removed folder has, and their bytes; nothing where it was swept."""
    sizes = [Path(place, name).lstat().st_size for place, _, names in os.walk(folder / "tree") for name in names]
    return len(sizes), sum(sizes)


def _folders(trash: Path) -> Iterable[Path]:
    try:
        return sorted(one for one in trash.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError as error:
        raise DiskFailed(f"cannot read {trash}: {error.strerror}") from error


def _removed_at(folder: Path) -> float:
    manifest = read_manifest(folder)
    return manifest.at if manifest else folder.lstat().st_mtime


def _renamed(folder: Path) -> Path:
    try:
        return folder.rename(folder.with_name(f"{_SWEEPING}{os.getpid()}-{folder.name}"))
    except OSError as error:
        raise DiskFailed(f"cannot delete {folder}: {error.strerror}") from error
