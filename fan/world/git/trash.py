"""Where removed worktrees lie until they are swept: `<trash>/<archive>/{manifest.json,admin,tree}`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from fan.errors import DiskFailed, UsageError
from fan.world.git.files import remove_tree, write_json

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


def sweep(trash: Path, older_than: float, now: float) -> list[str]:
    """Deletes what was removed more than `older_than` seconds before `now`; gives the archive names. Refs stay."""
    if not trash.is_dir():
        return []
    swept: list[str] = []
    for folder in _folders(trash):
        if not folder.name.startswith(_SWEEPING):
            if now - _removed_at(folder) < older_than:
                continue
            swept.append(folder.name)
            throw_away(folder)
        else:
            remove_tree(folder)
    return swept


def throw_away(folder: Path) -> None:
    """Deletes a place in the trash under another name, so that a half-deleted one is never brought back."""
    if folder.exists():
        remove_tree(_renamed(folder))


def weight(folder: Path) -> tuple[int, int]:
    """How many files a removed folder has, and their bytes; nothing where it was swept."""
    sizes = [Path(place, name).lstat().st_size for place, _, names in os.walk(folder / "tree") for name in names]
    return len(sizes), sum(sizes)


def _folders(trash: Path) -> Iterable[Path]:
    return sorted(one for one in trash.iterdir() if one.is_dir() and not one.is_symlink())


def _removed_at(folder: Path) -> float:
    manifest = read_manifest(folder)
    return manifest.at if manifest else folder.lstat().st_mtime


def _renamed(folder: Path) -> Path:
    try:
        return folder.rename(folder.with_name(f"{_SWEEPING}{os.getpid()}-{folder.name}"))
    except OSError as error:
        raise DiskFailed(f"cannot delete {folder}: {error.strerror}") from error
