"""Merges a member's commits into a branch, in the checkout that has it: whole, or not at all."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fan.errors import Conflict, Dirty, DiskFailed, FanError, GitFailed, NotAllowed, NotFound
from fan.world.files import delete
from fan.world.git.admin import find_entry
from fan.world.git.listing import HEADS
from fan.world.git.run import FILL_LIMIT, Output, Runner, patiently
from fan.world.git.values import Merge, Merged
from fan.world.git.work import operation

if TYPE_CHECKING:
    from fan.world.git.repository import Repository

HOOKS_LIMIT = 1800.0
UNDONE = "refs/fan/undone/"
_SHOWN = 5
_US = {f"GIT_{role}_{what}": "fan" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def merge(repo: Repository, asked: Merge) -> Merged:
    """See Repository.merge."""
    not_done = f"{asked.into} is as it was, and nothing was removed"
    with repo.lock():
        try:
            with _checkout(repo, asked) as path:
                return _Target(repo.runner.at(path), asked).merged()
        except FanError as error:
            error.not_done = error.not_done or not_done
            raise


class _Target:
    """The checkout that has the branch to merge into."""

    def __init__(self, here: Runner, asked: Merge) -> None:
        self._here = here
        self._asked = asked
        self._was = here.line("rev-parse", "--verify", "HEAD^{commit}")
        self._new: list[str] = []

    def merged(self) -> Merged:
        """Look, merge, and undo what was begun if it cannot be finished."""
        if self._has(self._asked.oid, self._was):
            return self._result("nothing")
        self._refuse_dirty()
        self._refuse_overwriting(self._foreseen())
        try:
            failed = self._run()
        except BaseException:
            self._undo()
            raise
        if failed is None or self._head() != self._was:
            return self._result(self._how())
        in_conflict = self._here.run("diff", "--name-only", "--diff-filter=U", "-z").split("\0")[:-1]
        also = self._undo()
        if in_conflict:
            raise self._conflict(in_conflict)
        raise GitFailed(
            f"git could not merge into {self._asked.into}: {_lasting(failed.words)}{also}",
            hint=shlex.join(["git", "-C", str(self._here.cwd), "merge", self._asked.branch or self._asked.oid]),
        )

    def _refuse_dirty(self) -> None:
        under_way = operation(Path(self._here.line("rev-parse", "--absolute-git-dir")))
        if under_way:
            raise self._dirty(f"a {under_way} is under way in {self._here.cwd}")
        changed = self._changed()
        if changed:
            raise self._dirty(f"{self._here.cwd} has uncommitted changes: {_some(changed)}")

    def _dirty(self, what: str) -> Dirty:
        return Dirty(
            f"nothing can be merged into {self._asked.into}: {what}",
            hint=f"git -C {shlex.quote(str(self._here.cwd))} status",
        )

    def _changed(self) -> list[str]:
        """Tracked files that are not as committed, a submodule's own content left aside."""
        listed = self._here.run(
            "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty"
        )
        return [field[3:] for field in listed.split("\0") if field]

    def _foreseen(self) -> str:
        """What the merge will come to, nothing touched: its tree, or where git is too old to tell, the other side's.

        Raises Conflict.
        """
        asked = self._asked
        if asked.how == "ff-only":
            if not self._has(self._was, asked.oid):
                raise Conflict(
                    f"{asked.into} has commits that {_name(asked)} lacks: it cannot be fast-forwarded unrebased",
                    hint=f"git log --oneline {asked.oid[:12]}..{asked.into}",
                )
            return asked.oid
        words = ("--write-tree", "--name-only", "--no-messages", "-z", self._was, asked.oid)
        told = self._here.ask("merge-tree", *words, limit=FILL_LIMIT)
        if told.code == 1 and told.fields:
            raise self._conflict(told.fields[1:])
        return told.fields[0] if not told.code else asked.oid

    def _conflict(self, names: list[str]) -> Conflict:
        asked, names = self._asked, list(dict.fromkeys(filter(None, names)))
        return Conflict(
            f"{_name(asked)} and {asked.into} have changed the same lines: {_some(names)}; a merge of {asked.into}"
            f" into {_name(asked)}, done where that is checked out, settles it",
            hint=f"git diff {asked.into}...{asked.oid[:12]}",
        )

    def _refuse_overwriting(self, tree: str) -> None:
        """git itself would overwrite an ignored file without a word."""
        words = ("-r", "--no-renames", "--name-status", "--diff-filter=AD", "-z", self._was, tree)
        told = self._here.run("diff-tree", *words).split("\0")
        changes = list(zip(told[1::2], told[::2], strict=False))
        top = self._here.cwd
        leaving = {top / name for name, change in changes if change == "D"}
        self._new = [name for name, change in changes if change == "A"]
        in_the_way = [name for name in self._new if _occupied(top, name, leaving)]
        if in_the_way:
            raise self._dirty(f"it would overwrite files that git does not track: {_some(in_the_way)}")

    def _run(self) -> Output | None:
        """The merge, with the person's hooks; what git said if it failed."""
        asked = self._asked
        if asked.how == "squash":
            return self._squash()
        told = self._patient("merge", "--quiet", "--no-edit", "--no-stat", "--no-autostash", *self._mode(), asked.oid)
        return told if told.code else None

    def _mode(self) -> tuple[str, ...]:
        if self._asked.how == "ff-only":
            return ("--ff-only",)
        named = f"branch '{self._asked.branch}' of ." if self._asked.branch else f"commit '{self._asked.oid}'"
        message = self._here.run("fmt-merge-msg", feed=f"{self._asked.oid}\t\t{named}\n").strip()
        return ("--no-squash", "--commit", "-m", message)

    def _squash(self) -> Output | None:
        told = self._patient("merge", "--quiet", "--no-stat", "--no-autostash", "--ff", "--squash", self._asked.oid)
        if told.code:
            return told
        if not self._here.ask("diff", "--cached", "--quiet").code:
            self._here.run("reset", "--quiet", "--merge", self._was)  # drops git's note of the squash
            return None
        told = self._patient("commit", "--quiet", "--cleanup=whitespace", "-m", self._asked.message)
        return told if told.code else None

    def _patient(self, *words: str) -> Output:
        return patiently(lambda: self._here.ask_by_file(*words, limit=HOOKS_LIMIT))

    def _undo(self) -> str:
        """Back to where it was; a sentence where a hook has changed files, whose content is then kept by a ref."""
        if not self._begun():
            return ""
        self._here.ask_patiently("reset", "--quiet", "--merge", self._was)
        if not self._begun():
            return ""
        try:
            if written := self._written():
                from_input = ("--pathspec-from-file=-", "--pathspec-file-nul")
                self._here.run("--literal-pathspecs", "add", "--force", *from_input, feed="\0".join(written))
            kept = self._here.run("stash", "create", env=_US).strip()  # only objects: git's stash stays as it is
            if kept:
                self._here.run("update-ref", f"{UNDONE}{kept}", kept)
            self._here.run("reset", "--quiet", "--hard", self._was)
        except FanError as error:
            raise GitFailed(
                f"the merge into {self._asked.into} failed, and undoing it too: {error.message}",
                not_done="nothing was removed",
                hint=f"git -C {shlex.quote(str(self._here.cwd))} reset --merge {self._was}",
            ) from error
        return f"; what was changed meanwhile is kept: git show {kept}" if kept else ""

    def _begun(self) -> bool:
        if self._head() != self._was:
            return False
        git_dir = Path(self._here.line("rev-parse", "--absolute-git-dir"))
        half_way = operation(git_dir) or (git_dir / "SQUASH_MSG").exists()
        return bool(half_way or self._written() or self._changed())

    def _written(self) -> list[str]:
        """Files that the merge brings and that were not there before it."""
        places = ((name, self._here.cwd / name) for name in self._new)
        return [name for name, place in places if place.is_symlink() or place.is_file()]

    def _result(self, how: str) -> Merged:
        return Merged(self._asked.into, self._head(), how, self._was, self._asked.oid)

    def _how(self) -> str:
        now = self._head()
        if now == self._was:
            return "nothing"
        if self._asked.how == "squash":
            return "squash"
        return "fast-forward" if now == self._asked.oid else "merge"

    def _head(self) -> str:
        return self._here.line("rev-parse", "--verify", "HEAD^{commit}")

    def _has(self, older: str, newer: str) -> bool:
        return not self._here.ask("merge-base", "--is-ancestor", older, newer).code


def take_back_line(repo: Repository, merged: Merged) -> str:
    """The command that takes a merge back, as things are now; empty when there is nothing to take back."""
    tip = repo.branches().get(merged.into)
    if merged.how == "nothing" or tip is None:
        return ""
    place = next((tree.path for tree in repo.worktrees() if tree.branch == merged.into), None)
    git = "git" if place is None else f"git -C {shlex.quote(str(place))}"
    if tip != merged.commit:
        span = {"merge": f"-m 1 {merged.commit}", "squash": merged.commit}
        return f"{git} revert {span.get(merged.how, f'{merged.was}..{merged.commit}')}"
    if place is None:
        return f"git update-ref {HEADS}{shlex.quote(merged.into)} {merged.was} {merged.commit}"
    return f"{git} reset --keep {merged.was}"


def _lasting(words: str) -> str:
    """git's words without its advice on how to finish a merge that is taken back."""
    return "\n".join(line for line in words.splitlines() if "to complete the merge" not in line)


@contextmanager
def _checkout(repo: Repository, asked: Merge) -> Iterator[Path]:
    """The checkout that has the branch, or one of ours for as long as it takes."""
    _drop(repo, asked.scratch)  # left by one that was killed
    tree = next((tree for tree in repo.worktrees() if tree.branch == asked.into and not tree.bare), None)
    if tree is not None:
        if tree.path in asked.closed:
            raise NotAllowed(f"{asked.into} is checked out by an agent, at {tree.path}", hint="fan ls")
        if not tree.path.is_dir():
            raise NotFound(f"{tree.path}, which has {asked.into} checked out, is gone", hint="git worktree prune")
        yield tree.path
        return
    if asked.into not in repo.branches():
        raise NotFound(f"there is no branch {asked.into!r} to merge into", hint="git branch")
    try:
        asked.scratch.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        repo.common.run("worktree", "add", "--quiet", "--no-checkout", str(asked.scratch), asked.into)
        repo.runner.at(asked.scratch).run("reset", "--quiet", "--hard", limit=FILL_LIMIT)
        yield asked.scratch
    except OSError as error:
        raise DiskFailed(f"cannot make a checkout at {asked.scratch}: {error.strerror}") from error
    finally:
        _drop(repo, asked.scratch)


def _drop(repo: Repository, scratch: Path) -> None:
    delete(scratch)
    if find_entry(repo.common_dir, scratch) is not None:
        repo.common.run("worktree", "remove", str(scratch))


def _occupied(top: Path, name: str, leaving: Container[Path]) -> bool:
    """Whether something that does not leave with the merge lies where `name` would be written."""
    place = top / name
    if place.is_dir() and not place.is_symlink():
        return any(Path(above, one) not in leaving for above, _, files in os.walk(place) for one in files)
    if os.path.lexists(place):
        return True
    above = (top / one for one in Path(name).parents if one != Path())
    return any((one.is_symlink() or one.is_file()) and one not in leaving for one in above)


def _name(asked: Merge) -> str:
    return asked.branch or asked.oid[:10]


def _some(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
