"""Makes a worktree: the entry under the lock, the files and the hook outside of it."""

from __future__ import annotations

import os
import re
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fan.errors import AlreadyExists, Conflict, Dirty, DiskFailed, FanError, GitFailed, NotAllowed
from fan.world.files import delete, must_see, there
from fan.world.git.admin import Entry, clear_leftover_lock, find_entry, read_line
from fan.world.git.listing import HEADS
from fan.world.git.run import FILL_LIMIT, Output, lock_in_the_way
from fan.world.git.values import Created

if TYPE_CHECKING:
    from fan.world.git.repository import Repository

HOOK_LIMIT = 1800.0
NOTHING_LEFT = "the worktree and its branch were not made; nothing is left of them"
_filling = threading.Semaphore(os.cpu_count() or 1)
"""One worktree a core is filled at a time: with more, the first would be full no sooner than the last."""
_LARGE = 1000
_HUGE = 20_000
_SHOWN = 2000


def create(
    repo: Repository,
    path: Path,
    branch: str,
    base_oid: str | None,
    *,
    many: bool,
    on_phase: Callable[[str], None],
) -> Created:
    """See Repository.create."""
    on_phase("worktree")
    _refuse_broken_hub(repo)
    with repo.lock():
        _refuse_taken(repo, path, branch if base_oid else None)
        with _undone_on_error(repo, path, branch, base_oid, locked=True):
            _add(repo, path, branch, base_oid)
    with _undone_on_error(repo, path, branch, base_oid, locked=False):
        on_phase("files")
        with _filling:
            warnings = _fill(repo, path, many=many)
    on_phase("hook")
    oid = base_oid or repo.runner.at(path).line("rev-parse", "--verify", "HEAD^{commit}")
    warnings += _run_hook(repo, path, oid)
    warnings += _submodules(repo, path)
    return Created(path, branch, oid, tuple(warnings))


def undo(repo: Repository, path: Path, branch: str, base_oid: str | None) -> bool:
    """See Repository.undo_create."""
    with repo.lock():
        return _undo(repo, path, branch, base_oid)


class _undone_on_error:  # noqa: N801 - reads as a phrase
    """Takes the half-made worktree away when the block fails, Ctrl-C included."""

    def __init__(self, repo: Repository, path: Path, branch: str, base_oid: str | None, *, locked: bool) -> None:
        self._undo = _undo if locked else undo
        self._made = (repo, path, branch, base_oid)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if error is None:
            return
        left = NOTHING_LEFT
        try:
            self._undo(*self._made)
        except FanError as second:
            left = f"what was half-made could not be taken back: {second.message}"
        if not isinstance(error, FanError):
            error.add_note(left)
        elif not error.not_done:
            error.not_done = left


def _refuse_broken_hub(repo: Repository) -> None:
    """With this configuration git takes every linked worktree for bare, and none can be filled."""
    if not repo.bare:
        return
    shared = repo.common.ask("config", "--file", "config", "--bool", "extensions.worktreeConfig")
    bare = repo.common.ask("config", "--file", "config", "--bool", "core.bare")
    if "true" in shared.out and "true" in bare.out:
        raise NotAllowed(
            "extensions.worktreeConfig is on while core.bare is set for all worktrees of this repository",
            not_done="nothing was made",
            hint="git config --unset core.bare && git config --worktree core.bare true",
        )


def _refuse_taken(repo: Repository, path: Path, branch: str | None) -> None:
    must_see(path, "nothing was made")
    if there(path):
        raise AlreadyExists(f"there is something at {path} already", not_done="nothing was made")
    if branch is not None and _branch_oid(repo, branch) is not None:
        raise AlreadyExists(
            f"the branch {branch!r} exists already",
            not_done="nothing was made",
            hint=f"git log -1 {HEADS}{branch}",
        )


def _add(repo: Repository, path: Path, branch: str, base_oid: str | None) -> None:
    """A new branch at `base_oid`; None checks out the branch that is there."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DiskFailed(f"cannot make the folder {path.parent}: {error.strerror}") from error
    added = repo.here.ask_patiently(
        "worktree",
        "add",
        "--quiet",
        "--no-checkout",
        *(("--no-track", "-b", branch, str(path), base_oid) if base_oid else (str(path), branch)),
    )
    if not added.code:
        return
    in_the_way = re.search(r"'refs/heads/([^']+)' exists; cannot create", added.words)
    if in_the_way:
        raise Conflict(f"the branch {branch!r} cannot exist beside the branch {in_the_way[1]!r}; another name can")
    raise GitFailed(f"git could not add the worktree {path}: {added.words}")


def _fill(repo: Repository, path: Path, *, many: bool) -> list[str]:
    filled = repo.runner.at(path).ask(
        *_workers(repo, many=many),
        "reset",
        "--quiet",
        "--hard",
        "--no-recurse-submodules",
        limit=FILL_LIMIT,
    )
    if filled.code:
        raise GitFailed(f"git could not write the files of {path}: {filled.words}")
    if filled.err.strip():
        return [f"git said while it wrote the files: {_shown(filled)}"]
    return []


def _workers(repo: Repository, *, many: bool) -> tuple[str, ...]:
    """Parallel checkout only helps where the cores are not busy with other worktrees or the tree is huge."""
    entries = _index_entries(repo.common_dir)
    if entries is not None and entries <= (_HUGE if many else _LARGE):
        return ()
    return ("-c", f"checkout.workers={2 if many else 0}")


def _index_entries(common_dir: Path) -> int | None:
    """The number of entries in the main worktree's index, from its first twelve bytes."""
    try:
        with (common_dir / "index").open("rb") as index:
            signature, _version, entries = struct.unpack(">4sII", index.read(12))
    except (OSError, struct.error):
        return None
    return int(entries) if signature == b"DIRC" else None


def _run_hook(repo: Repository, path: Path, oid: str) -> list[str]:
    """The post-checkout hook, which `--no-checkout` left out. It may fail; the worktree is complete."""
    try:
        said = _hook(repo, path, oid)
        if said.code and lock_in_the_way(said.err):
            with repo.lock():
                said = _hook(repo, path, oid)
    except FanError as error:
        return [f"the post-checkout hook: {error.message}"]
    if said.code:
        return [f"the post-checkout hook failed with exit code {said.code}: {_shown(said)}"]
    return []


def _hook(repo: Repository, path: Path, oid: str) -> Output:
    return repo.runner.at(path).ask_by_file(
        "hook",
        "run",
        "--ignore-missing",
        "post-checkout",
        "--",
        "0" * len(oid),
        oid,
        "1",
        limit=HOOK_LIMIT,
    )


def _submodules(repo: Repository, path: Path) -> list[str]:
    if not there(path / ".gitmodules"):
        return []
    listed = repo.runner.at(path).ask(
        "config", "--file", ".gitmodules", "--null", "--get-regexp", r"^submodule\..*\.path$"
    )
    count = len(listed.fields)
    if not count:
        return []
    what = "1 submodule is" if count == 1 else f"{count} submodules are"
    return [f"{what} not initialised in {path.name}; run: git submodule update --init"]


def _undo(repo: Repository, path: Path, branch: str, base_oid: str | None) -> bool:
    """`base_oid` is None for a branch that was there before: it stays. Whether the branch went."""
    tip = _branch_oid(repo, branch)
    entry = find_entry(repo.common_dir, path)
    moved = base_oid is not None and tip not in (None, base_oid)
    if entry is not None and (moved or _stands_elsewhere(entry, branch)):
        since = base_oid[:12] if base_oid else branch
        raise Dirty(
            f"the branch {branch!r} has moved on since it was made at {since}",
            not_done="nothing was removed",
            hint=f"git log {since}..{HEADS}{branch}",
        )
    if entry is not None:
        delete(path)
        clear_leftover_lock(entry)
        repo.common.run("worktree", "remove", str(path))
    _remove_if_empty(path)
    _remove_if_empty(path.parent)
    if not base_oid or tip != base_oid or _checked_out(repo, branch):
        return False
    dropped = repo.common.ask_patiently("update-ref", "-d", f"{HEADS}{branch}", base_oid)
    if dropped.code:
        raise GitFailed(f"git could not take the branch {branch!r} back: {dropped.words}")
    return True


def _stands_elsewhere(entry: Entry, branch: str) -> bool:
    """Whether somebody has switched the worktree to another branch or commit."""
    head = read_line(entry.folder / "HEAD") or ""
    return head.strip("0") not in ("", f"ref: {HEADS}{branch}")


def _checked_out(repo: Repository, branch: str) -> bool:
    return any(tree.branch == branch for tree in repo.worktrees())


def _branch_oid(repo: Repository, branch: str) -> str | None:
    found = repo.common.ask("rev-parse", "--verify", "--quiet", f"{HEADS}{branch}")
    return None if found.code else found.out.strip()


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # other worktrees live there


def _shown(output: Output) -> str:
    return output.words[-_SHOWN:]
