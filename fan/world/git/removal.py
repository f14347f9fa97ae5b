"""Takes a worktree away so that it can come back. Each step leaves what the next call can finish or undo."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fan.errors import Conflict, Dirty, DiskFailed, GitFailed, NotFound
from fan.world.files import delete, must_see, there
from fan.world.git import archive, guard
from fan.world.git.admin import Entry, clear_leftover_lock, find_entry, read_line
from fan.world.git.files import copy_tree
from fan.world.git.guard import NOT_REMOVED
from fan.world.git.listing import HEADS
from fan.world.git.run import Runner
from fan.world.git.trash import Manifest, check_name, read_manifest, throw_away, write_manifest
from fan.world.git.values import UNBORN, Identity, Removed
from fan.world.git.work import Changes, problems

if TYPE_CHECKING:
    from fan.world.git.repository import Repository

_TRIES = 3
GONE = "its folder had gone before; only its commits and its index could be kept"


@dataclass(frozen=True, slots=True)
class Request:
    """One removal that is asked for; the fields are the arguments of Repository.remove."""

    path: Path
    archive: str
    trash: Path
    expect: Identity | None
    base_oid: str
    at: float
    discard: bool

    @property
    def place(self) -> Path:
        """Where in the trash it will lie."""
        return self.trash / self.archive


def remove(repo: Repository, request: Request, on_step: Callable[[str], None]) -> Removed:
    """See Repository.remove."""
    check_name(request.archive)
    must_see(request.path, NOT_REMOVED)
    must_see(request.place, NOT_REMOVED)
    with repo.lock():
        if os.path.lexists(request.path):
            removed = _remove(repo, request, on_step)
        else:
            removed = _finish(repo, request, on_step)
    if request.discard:
        throw_away(request.place)
    return removed


def _remove(repo: Repository, request: Request, on_step: Callable[[str], None]) -> Removed:
    entry = guard.linked(repo, request.path)
    guard.same(request.path, request.expect)
    _refuse_locked(entry, request.path)
    here = repo.runner.at(request.path)
    changes = Changes.read(here)
    if not request.discard:
        _refuse_problems(here, entry, changes, request)
    _make_place(request)
    manifest = _manifest(changes.oid, entry, request)
    refs, notes = _record(here, entry, manifest, request, changes)
    on_step("recorded")
    _save(entry, manifest, request)
    on_step("saved")
    _move(repo, request, discard_refs=bool(refs))
    on_step("moved")
    _drop_entry(repo, request)
    on_step("removed")
    return _removed(request, manifest, refs, notes)


def _finish(repo: Repository, request: Request, on_step: Callable[[str], None]) -> Removed:
    """The folder is away: by a removal that was broken off, or by somebody's hand."""
    manifest = read_manifest(request.place)
    if manifest is not None and Path(manifest.path) == request.path and there(request.place / "tree"):
        _drop_entry(repo, request)
        on_step("removed")
        refs = _refs_of(repo, request.archive)
        return _removed(request, manifest, refs, ())
    entry = find_entry(repo.common_dir, request.path)
    if entry is None:
        raise NotFound(f"there is no worktree at {request.path}", not_done=NOT_REMOVED, hint="fan ls")
    _refuse_locked(entry, request.path)
    git = repo.runner.inside(entry.folder)
    _make_place(request)
    manifest = _manifest(git.line("rev-parse", "--verify", "HEAD^{commit}"), entry, request)
    refs, notes = _record(git, entry, manifest, request, None)
    _save(entry, manifest, request)
    _drop_entry(repo, request)
    on_step("removed")
    return _removed(request, manifest, refs, (*notes, GONE))


def _refuse_locked(entry: Entry, path: Path) -> None:
    clear_leftover_lock(entry)
    if entry.locked is not None:
        raise guard.locked(path, entry.locked)


def _refuse_problems(here: Runner, entry: Entry, changes: Changes, request: Request) -> None:
    found = problems(here, entry, changes, request.base_oid)
    if found:
        raise Dirty(
            f"{request.path} holds work that the archive cannot keep: {'; '.join(found)};"
            " what is committed and pushed there is safe, and --discard removes it all the same",
            not_done=NOT_REMOVED,
            hint=f"git -C {shlex.quote(str(request.path))} status",
        )


def _make_place(request: Request) -> None:
    """A fresh place in the trash; what a removal broken off before its move left there goes."""
    if there(request.place / "tree"):
        raise Conflict(f"the archive {request.archive!r} exists already", not_done=NOT_REMOVED)
    delete(request.place)
    try:
        request.place.mkdir(parents=True, mode=0o700)
        own, theirs = request.path.parent.stat().st_dev, request.place.stat().st_dev
    except OSError as error:
        raise DiskFailed(f"cannot use the trash {request.place}: {error.strerror}", not_done=NOT_REMOVED) from error
    if own != theirs:
        delete(request.place)
        raise DiskFailed(
            f"the trash {request.trash} is on another file system than {request.path}", not_done=NOT_REMOVED
        )


def _manifest(oid: str, entry: Entry, request: Request) -> Manifest:
    head = read_line(entry.folder / "HEAD") or ""
    born = oid != UNBORN
    seen = guard.identity(request.path) if there(request.path) else Identity(0, 0, "")
    return Manifest(
        archive=request.archive,
        path=str(request.path),
        branch=head.removeprefix(f"ref: {HEADS}") if head.startswith(f"ref: {HEADS}") and born else None,
        head=oid if born else request.base_oid,
        base=request.base_oid,
        admin=entry.folder.name,
        at=request.at,
        device=seen.device,
        inode=seen.inode,
    )


def _record(
    git: Runner, entry: Entry, manifest: Manifest, request: Request, changes: Changes | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    if request.discard:
        return {}, ()
    return archive.record(git, entry, manifest, request.place / "index", changes)


def _save(entry: Entry, manifest: Manifest, request: Request) -> None:
    admin = request.place / "admin"
    copy_tree(entry.folder, admin, admin.with_name("admin.part"))
    write_manifest(request.place, manifest)


def _move(repo: Repository, request: Request, *, discard_refs: bool) -> None:
    try:
        request.path.rename(request.place / "tree")
    except OSError as error:
        delete(request.place)
        if discard_refs:
            archive.delete(repo.common, request.archive)
        raise DiskFailed(
            f"cannot move {request.path} into the trash {request.place}: {error.strerror}", not_done=NOT_REMOVED
        ) from error


def _drop_entry(repo: Repository, request: Request) -> None:
    """Takes exactly this entry out of git's list. The folder is away, so git deletes no file."""
    words = ""
    for number in range(_TRIES):
        if os.path.lexists(request.path):
            # A program that is still running has made the folder anew.
            request.path.rename(request.place / f"late-{os.getpid()}-{number}")
        if find_entry(repo.common_dir, request.path) is None:
            return
        dropped = repo.common.ask("worktree", "remove", str(request.path))
        if not dropped.code:
            return
        words = dropped.words
    raise GitFailed(
        f"git keeps the entry of {request.path}, where something still writes: {words}",
        not_done=f"its files are safe in {request.place}",
        hint="fan undo",
    )


def _refs_of(repo: Repository, name: str) -> dict[str, str]:
    return next((one.refs for one in archive.archives(repo.common, name)), {})


def _removed(request: Request, manifest: Manifest, refs: dict[str, str], notes: tuple[str, ...]) -> Removed:
    trash = None if request.discard else request.place
    return Removed(request.archive, request.path, manifest.branch, manifest.head, trash, refs, notes)
