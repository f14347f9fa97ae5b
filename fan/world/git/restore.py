"""Brings a removed worktree back: from the trash as it was, later from the refs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fan.errors import AlreadyExists, Conflict, DiskFailed, FanError, GitFailed, NotFound
from fan.world.files import delete, is_folder, must_see, there
from fan.world.git import archive
from fan.world.git.admin import Entry, entry_at, find_entry, points_to
from fan.world.git.files import copy_tree
from fan.world.git.listing import HEADS
from fan.world.git.run import FILL_LIMIT
from fan.world.git.trash import Manifest, read_manifest
from fan.world.git.values import Restored

if TYPE_CHECKING:
    from fan.world.git.repository import Repository

NOT_RESTORED = "nothing was brought back; nothing was lost"
NOT_IN_REFS = "ignored files, empty folders, permissions but for the executable bit, file times and git's own logs"
FROM_REFS = f"the trash was emptied: {NOT_IN_REFS} are not back"
GONE_BEFORE = "its folder was gone before it was removed: what git had not recorded of it by then is not back"


def restore(repo: Repository, folder: Path, on_step: Callable[[str], None]) -> Restored:
    """See Repository.restore."""
    with repo.lock():
        manifest = read_manifest(folder) or archive.manifest_of(repo.common, folder.name)
        if manifest is None:
            raise NotFound(f"there is no removal {folder.name!r} to take back", hint="fan archive ls")
        path = Path(manifest.path)
        must_see(path, NOT_RESTORED)
        must_see(folder, NOT_RESTORED)
        if _is_back(repo, manifest, folder):
            return _done(folder, manifest, ())
        _refuse_taken(repo, manifest)
        notes = _branch(repo, manifest)
        on_step("branch")
        if is_folder(folder / "tree"):
            _from_trash(repo, manifest, folder, on_step)
            return _done(folder, manifest, notes)
        _from_refs(repo, manifest)
        delete(folder)
        differs = FROM_REFS if manifest.inode else GONE_BEFORE
        return Restored(path, manifest.branch, manifest.head, notes=(*notes, differs))


def _is_back(repo: Repository, manifest: Manifest, folder: Path) -> bool:
    """Whether the very folder is in its place: by a restore broken off late, or a removal broken off early."""
    path = Path(manifest.path)
    if there(folder / "tree") or not is_folder(path) or path.is_symlink():
        return False
    seen = path.lstat()
    entry = find_entry(repo.common_dir, path)
    return (
        (seen.st_dev, seen.st_ino) == (manifest.device, manifest.inode)
        and entry is not None
        and points_to(path / ".git") == Path(os.path.realpath(entry.folder))
    )


def _refuse_taken(repo: Repository, manifest: Manifest) -> None:
    path = Path(manifest.path)
    if os.path.lexists(path):
        raise AlreadyExists(
            f"there is something at {path} already",
            not_done=NOT_RESTORED,
            hint=f"mv {shlex.quote(str(path))} ELSEWHERE",
        )
    if repo.common.ask("cat-file", "-e", f"{manifest.head}^{{commit}}").code:
        raise NotFound(
            f"the commit {manifest.head[:12]} of {path} is not in this repository",
            not_done=NOT_RESTORED,
            hint="fan archive ls",
        )
    for tree in repo.worktrees():
        if manifest.branch is not None and tree.branch == manifest.branch and tree.path != path:
            raise Conflict(
                f"the branch {manifest.branch!r} is checked out at {tree.path}",
                not_done=NOT_RESTORED,
                hint=f"git -C {shlex.quote(str(tree.path))} switch --detach",
            )


def _branch(repo: Repository, manifest: Manifest) -> tuple[str, ...]:
    """Sees to the branch; a note where it is not what it was."""
    if manifest.branch is None:
        return ()
    ref = f"{HEADS}{manifest.branch}"
    tip = repo.common.ask("rev-parse", "--verify", "--quiet", ref).out.strip()
    if tip == manifest.head:
        return ()
    if tip:
        return (f"the branch {manifest.branch!r} has moved from {manifest.head[:12]} to {tip[:12]}; it stays there",)
    made = repo.common.ask_patiently("update-ref", ref, manifest.head, "0" * len(manifest.head))
    if made.code:
        raise GitFailed(
            f"git could not make {manifest.branch!r} again: {made.words}", not_done=NOT_RESTORED, hint="git branch"
        )
    return (f"the branch {manifest.branch!r} was gone; it is back at {manifest.head[:12]}",)


def _from_trash(repo: Repository, manifest: Manifest, folder: Path, on_step: Callable[[str], None]) -> None:
    path, tree = Path(manifest.path), folder / "tree"
    entry = find_entry(repo.common_dir, path) or _entry_again(repo, manifest, folder)
    on_step("entry")
    try:
        if points_to(tree / ".git") != Path(os.path.realpath(entry.folder)):
            (tree / ".git").write_bytes(b"gitdir: " + os.fsencode(entry.folder) + b"\n")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        tree.rename(path)
    except OSError as error:
        raise DiskFailed(
            f"cannot move {tree} back to {path}: {error.strerror}", not_done=NOT_RESTORED, hint="fan archive ls"
        ) from error
    on_step("moved")


def _entry_again(repo: Repository, manifest: Manifest, folder: Path) -> Entry:
    """The administrative folder as it was, under another name only if its own is taken."""
    home = repo.common_dir / "worktrees"
    target = _free(home, manifest.admin)
    if target.name != manifest.admin and (folder / "admin" / "modules").exists():
        raise Conflict(
            f"git uses the name {manifest.admin!r} for another worktree now, and submodules point to it:"
            " that worktree has to go first",
            not_done=NOT_RESTORED,
            hint="git worktree list",
        )
    home.mkdir(exist_ok=True)
    copy_tree(folder / "admin", target, repo.common_dir / f"fan.restore-{target.name}")
    entry = entry_at(target)
    if entry is None:
        raise GitFailed(f"the saved entry {folder / 'admin'} is damaged", not_done=NOT_RESTORED)
    return entry


def _free(home: Path, name: str) -> Path:
    number, target = 0, home / name
    while target.exists():
        number += 1
        target = home / f"{name}{number}"
    return target


def _from_refs(repo: Repository, manifest: Manifest) -> None:
    kept = archive.find(repo.common, manifest.archive)
    path = Path(manifest.path)
    if find_entry(repo.common_dir, path) is not None:
        repo.common.run("worktree", "remove", str(path))
    where = [str(path), manifest.branch] if manifest.branch else ["--detach", str(path), manifest.head]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        repo.common.run("worktree", "add", "--quiet", "--no-checkout", *where)
        here = repo.runner.at(path)
        here.run("read-tree", "--reset", "-u", kept.refs["tree"], limit=FILL_LIMIT)
        here.run("read-tree", kept.refs.get("index", "HEAD"))
        here.ask("update-index", "-q", "--refresh")
    except (FanError, OSError):
        delete(path)
        if find_entry(repo.common_dir, path) is not None:
            repo.common.run("worktree", "remove", str(path))
        raise


def _done(folder: Path, manifest: Manifest, notes: tuple[str, ...]) -> Restored:
    """Clears the trash, but for what was written to the old place after the folder had moved."""
    late = sorted(one.name for one in folder.glob("late-*"))
    if late:
        notes = (*notes, f"files that were written after the removal are in {folder}: {', '.join(late)}")
    for one in (folder / "admin", folder / "manifest.json", *(() if late else (folder,))):
        delete(one)
    return Restored(Path(manifest.path), manifest.branch, manifest.head, notes=notes)
