"""What a worktree holds that would be missed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fan.world.git import guard
from fan.world.git.admin import Entry
from fan.world.git.run import READ_LIMIT, Runner
from fan.world.git.status import stands_on
from fan.world.git.values import UNBORN, Commit, Work

if TYPE_CHECKING:
    from fan.world.git.repository import Repository

_QUESTION = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=all")
_SHOWN = 20
_WALKED = 1000

# Folders that a tool makes again from what is committed.
DEPENDENCIES = frozenset(
    {
        "node_modules",
        ".venv",
        "venv",
        "target",
        "__pycache__",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".gradle",
        ".next",
        ".turbo",
        ".terraform",
    }
)

_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


def inspect(repo: Repository, path: Path, base_oid: str) -> Work:
    """See Repository.inspect."""
    entry = guard.linked(repo, path)
    seen = guard.identity(path)
    here = repo.runner.at(path)
    changes = Changes.read(here)
    ahead, commits = (0, ()) if changes.oid == UNBORN else _commits(here, base_oid)
    made = [name for name in changes.links if name in changes.unrecorded and not _shared(repo.root, path, name)]
    untracked = sorted((*changes.untracked, *made))
    return Work(
        path=path,
        identity=seen,
        oid=changes.oid,
        branch=changes.branch,
        ahead=ahead,
        commits=commits,
        staged=tuple(changes.staged[:_SHOWN]),
        staged_count=len(changes.staged),
        modified=tuple(changes.modified[:_SHOWN]),
        modified_count=len(changes.modified),
        untracked=tuple(untracked[:_SHOWN]),
        untracked_count=len(untracked),
        links=tuple(name for name in changes.links if name not in made),
        ignored=tuple(changes.ignored[:_SHOWN]),
        ignored_count=len(changes.ignored),
        dependencies=tuple(changes.dependencies),
        problems=problems(here, entry, changes, base_oid),
        operation=operation(entry.folder),
        stashes=_stashes(repo.common, changes.branch),
        locked=entry.locked,
    )


@dataclass(slots=True)
class Changes:
    """`git status` of one worktree, sorted out; `unrecorded` are all paths whose files the index lacks."""

    path: Path
    oid: str = ""
    branch: str | None = None
    staged: list[str] = field(default_factory=list)
    modified: list[str] = field(default_factory=list)
    untracked: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    unmerged: bool = False

    @property
    def index_is_head(self) -> bool:
        """Whether nothing is staged."""
        return not self.staged and not self.unmerged and self.oid != UNBORN

    @classmethod
    def read(cls, here: Runner, *, ignored: bool = True, limit: float = READ_LIMIT) -> Changes:
        """Asks git once, within `limit` seconds. Dependency folders are not walked."""
        asked = (*_QUESTION, "--ignored=matching") if ignored else _QUESTION
        lines = here.run(*asked, limit=limit).split("\0")
        changes = cls(here.cwd, *stands_on(lines))
        for line in lines:
            changes._take(line)
        return changes

    def _take(self, line: str) -> None:
        """Sorts one line of porcelain version 2 in."""
        match line[:2]:
            case "1 ":
                state, name = line.split(" ", 8)[1::7]
                self._tracked(state, name)
            case "u ":
                self.unmerged = True
                self._tracked(".U", line.split(" ", 10)[10])
            case "? ":
                self._untracked(line[2:])
            case "! ":
                self._ignored(line[2:])

    def _tracked(self, state: str, name: str) -> None:
        if state[0] != ".":
            self.staged.append(name)
        if state[1] != ".":
            self.modified.append(name)
            self.unrecorded.append(name)

    def _untracked(self, name: str) -> None:
        self.unrecorded.append(name.rstrip("/"))
        if (self.path / name).is_symlink():
            self.links.append(name)
            return
        self.untracked.append(name)
        if name.endswith("/"):
            self.nested.append(name.rstrip("/"))

    def _ignored(self, name: str) -> None:
        if (self.path / name.rstrip("/")).is_symlink():
            self.links.append(name)
        elif not name.endswith("/"):
            self.ignored.append(name)
        elif DEPENDENCIES.intersection(Path(name).parts):
            self.dependencies.append(name)
        else:
            self.ignored += _files(self.path, name, _WALKED - len(self.ignored))


def _shared(root: Path, path: Path, name: str) -> bool:
    """Whether a link leads to what the main checkout has in the same place, as the setup's links do."""
    return os.path.realpath(path / name) == os.path.realpath(root / name)


def problems(here: Runner, entry: Entry, changes: Changes, base_oid: str) -> tuple[str, ...]:
    """Submodules and nested repositories with work that no remote has; the archive cannot hold it."""
    names = [*_submodules(here, entry), *changes.nested]
    return tuple(problem for name in names if (problem := _problem(here, name, base_oid)))


def _problem(here: Runner, name: str, base_oid: str) -> str:
    inner = here.at(here.cwd / name)
    if inner.run("status", "--porcelain", "--untracked-files=normal").strip():
        return f"{name}: a repository inside, with uncommitted changes"
    known = here.ask("rev-parse", "--verify", "--quiet", f"{base_oid}:{name}").out.split()
    if known and inner.ask("cat-file", "-e", known[0]).code:
        known = []
    counted = inner.ask("rev-list", "--count", "HEAD", "--branches", "--not", "--remotes", *known)
    if counted.code or counted.out.strip() != "0":
        return f"{name}: a repository inside, with commits that no remote has"
    return ""


def _submodules(here: Runner, entry: Entry) -> Iterator[str]:
    """Submodules that are initialised; without a trace of any, the index is not read."""
    if not (here.cwd / ".gitmodules").exists() and not (entry.folder / "modules").exists():
        return
    for line in here.run("ls-files", "--stage", "-z").split("\0"):
        meta, _, name = line.partition("\t")
        if meta.startswith("160000 ") and (here.cwd / name / ".git").exists():
            yield name


def _commits(here: Runner, base_oid: str) -> tuple[int, tuple[Commit, ...]]:
    """The commits since the base: how many, and the newest."""
    listed = here.run("rev-list", "--count", "HEAD", "--not", base_oid).strip()
    if listed == "0":
        return 0, ()
    shown = here.run("log", f"-{_SHOWN}", "-z", "--format=%H %s", "HEAD", "--not", base_oid)
    lines = (line.partition(" ") for line in shown.split("\0") if line)
    return int(listed), tuple(Commit(oid, subject) for oid, _, subject in lines)


def operation(git_dir: Path) -> str | None:
    """What is under way in the worktree whose git folder this is: a merge, a rebase, ..."""
    return next((word for name, word in _OPERATIONS.items() if (git_dir / name).exists()), None)


def _stashes(common: Runner, branch: str | None) -> tuple[str, ...]:
    """Entries of git's own stash, which all worktrees share, that were made on this branch."""
    if branch is None or not (common.cwd / "logs/refs/stash").exists():
        return ()
    listed = common.run("reflog", "show", "-z", "--format=%gd %gs", "refs/stash")
    marks = (f"WIP on {branch}: ", f"On {branch}: ")
    return tuple(line for line in listed.split("\0") if line.partition(" ")[2].startswith(marks))


def _files(top: Path, name: str, most: int) -> list[str]:
    """The files below an ignored folder, at most `most`; dependency folders are left out."""
    found: list[str] = []
    for place, folders, files in os.walk(top / name):
        folders[:] = sorted(set(folders) - DEPENDENCIES)
        found += (str(Path(place, file).relative_to(top)) for file in sorted(files))
        if len(found) >= most:
            break
    return found[:most]
