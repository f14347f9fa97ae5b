"""Compares worktrees as they stand, untracked files included, and leaves no object in the repository."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fan.core.compare import Touched
from fan.errors import DiskFailed, NotFound
from fan.world.files import must_see
from fan.world.git.admin import points_to
from fan.world.git.repository import Repository
from fan.world.git.run import Runner
from fan.world.git.values import UNBORN
from fan.world.git.work import Changes

FILES_LIMIT = 600.0
# The objects are ours and live as long as one look.
_QUICK = ("-c", "core.looseCompression=0", "-c", "core.fsync=none", "-c", "core.splitIndex=false")
_EXACT = ("-r", "-M", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A worktree at one moment: `tree` has all its files but the ignored. `commit` is empty before the first."""

    commit: str
    branch: str | None
    tree: str
    uncommitted: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """A worktree against `base`, the commit at which it left the line it came from."""

    snapshot: Snapshot
    base: str
    commits: int
    touched: list[Touched]


@contextmanager
def open_trees(repo: Repository) -> Iterator[Trees]:
    """Trees of `repo`'s worktrees, which are gone when the block ends. Raises DiskFailed."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="fan-trees-", ignore_cleanup_errors=True)
    except OSError as error:
        raise DiskFailed(f"there is no room for temporary files: {error}", not_done="nothing was done") from error
    with folder as name:
        yield Trees(repo, Path(name))


class Trees:
    """Takes and compares whole trees. The worktrees' own indexes and the repository's objects are only read."""

    def __init__(self, repo: Repository, folder: Path) -> None:
        self._repo = repo
        self._folder = folder
        objects = folder / "objects"
        (objects / "info").mkdir(parents=True)
        quoted = str(repo.common_dir / "objects").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        (objects / "info" / "alternates").write_text(f'"{quoted}"\n', errors="surrogateescape")
        self._env = {"GIT_OBJECT_DIRECTORY": str(objects)}

    def measure(self, path: Path, base_oid: str, base: str) -> Measured:
        """The worktree at `path` against where it left `base_oid`, or `base` as that has moved on since."""
        snapshot = self.take(path)
        start = self._start(snapshot.commit, base_oid, base) if snapshot.commit else base_oid
        counted = self._repo.common.run("rev-list", "--count", snapshot.commit or base_oid, "--not", start)
        return Measured(snapshot, start, int(counted), self.touched(start, snapshot.tree))

    def take(self, path: Path) -> Snapshot:
        """The worktree at `path` as it is now. Raises NotFound, and GitFailed if a file could not be taken in."""
        must_see(path, "it was not compared")
        entry = points_to(path / ".git")
        if entry is None:
            raise NotFound(f"{path} is no worktree any more")
        here = self._repo.runner.at(path)
        changes = Changes.read(here, ignored=False, limit=FILES_LIMIT)
        commit = "" if changes.oid == UNBORN else changes.oid
        names, notes = _recordable(here, changes)
        if changes.index_is_head and not names:
            tree = here.line("rev-parse", "--verify", f"{commit}^{{tree}}")
        else:
            tree = self._tree(here, entry / "index", names)
        uncommitted = len({*changes.staged, *changes.modified, *changes.unrecorded})
        return Snapshot(commit, changes.branch, tree, uncommitted, notes)

    def touched(self, one: str, other: str) -> list[Touched]:
        """The files that differ between two commits or trees, by name."""
        fields = self._diff("--numstat", "-z", one, other).split("\0")[:-1]
        return list(_numbers(iter(fields)))

    def patch(self, one: str, other: str, *, stat: bool) -> bytes:
        """What leads from one tree to the other, or a line a file about it; byte for byte, whatever the settings."""
        shown = ("--stat=160", "--stat-graph-width=40") if stat else ("--patch", "--full-index")
        return self._diff(*shown, one, other).encode("utf-8", "surrogateescape")

    def _diff(self, *args: str) -> str:
        return self._repo.common.run("diff-tree", *_EXACT, *args, env=self._env, limit=FILES_LIMIT)

    def _tree(self, here: Runner, index: Path, names: Sequence[str]) -> str:
        """The tree of a copy of the index with the files of these paths as they are now."""
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            copy = Path(scratch) / "index"
            if index.exists():
                shutil.copy2(index, copy)
            env = self._env | {"GIT_INDEX_FILE": str(copy)}
            feed = "".join(f"{name}\0" for name in names)
            update = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            here.run(*_QUICK, *update, feed=feed, env=env, limit=FILES_LIMIT)
            return here.run(*_QUICK, "write-tree", env=env).strip()

    def _start(self, head: str, base_oid: str, base: str) -> str:
        """Where `head` left its base: the branch may since have been moved onto a newer one."""
        common = self._repo.common
        old = common.ask("merge-base", head, base_oid).out.strip() or base_oid
        tip = common.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}").out.strip()
        if tip in ("", base_oid):
            return old
        new = common.ask("merge-base", head, tip).out.strip()
        # A head that lies on the base as a whole has been merged: its commits are still its own.
        if new in ("", head) or common.ask("merge-base", "--is-ancestor", old, new).code:
            return old
        return new


def _recordable(here: Runner, changes: Changes) -> tuple[list[str], tuple[str, ...]]:
    """The paths that a tree can hold, and a note for each repository inside, of which it holds the commit at most."""
    nested = set(changes.nested)
    empty = {name for name in nested if here.at(here.cwd / name).ask("rev-parse", "--quiet", "--verify", "HEAD").code}
    notes = tuple(f"{name} is a repository of its own; its files are not compared" for name in sorted(nested))
    return [name for name in changes.unrecorded if name not in empty], notes


def _numbers(fields: Iterator[str]) -> Iterator[Touched]:
    for field in fields:
        added, removed, path = field.split("\t", 2)
        was = "" if path else next(fields)
        yield Touched(path or next(fields), _lines(added), _lines(removed), was)


def _lines(text: str) -> int | None:
    return None if text == "-" else int(text)
