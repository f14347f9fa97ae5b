"""A repository as `fan` sees it: where it lies, what it has, and the changes `fan` makes to it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from fan.core.naming import LONGEST, too_long
from fan.errors import NoCommit, NotFound, UsageError
from fan.world import locks
from fan.world.git import listing
from fan.world.git.admin import find_entry
from fan.world.git.run import Runner
from fan.world.git.status import Ahead, begin_statuses
from fan.world.git.values import (
    Archive,
    Contents,
    Created,
    Head,
    Identity,
    Merge,
    Merged,
    Removed,
    Restored,
    Travel,
    Work,
    Worktree,
    WorktreeStatus,
)

# What changes a repository is imported where it is asked for: nine verbs in ten only look.


class Repository:
    """One repository, entered at one of its worktrees. All paths given to it are absolute.

    `root` is the main worktree's top, or a bare hub's folder: the same from every linked worktree.
    `top` is the worktree we stand in, None on a bare hub. `here` runs git in it, `common` on the shared part.
    """

    def __init__(self, runner: Runner, *, root: Path, common_dir: Path, top: Path | None, bare: bool) -> None:
        self.runner = runner
        self.root = root
        self.common_dir = common_dir
        self.top = top
        self.bare = bare
        self.common = runner.inside(common_dir)
        self.here = runner.at(top or common_dir)
        self._ahead = Ahead(self.common)

    @property
    def name(self) -> str:
        """The folder's name as people say it; a hub `x.git` is `x`."""
        return self.root.name.removesuffix(".git") or self.root.name if self.bare else self.root.name

    def head(self) -> Head:
        """What the place we stand in is on. Raises NoCommit before the first commit."""
        oid = self.here.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        symbolic = self.here.ask("symbolic-ref", "--quiet", "HEAD")
        branch = symbolic.out.strip().removeprefix(listing.HEADS) or None
        if not oid.code:
            return Head(oid.out.strip(), branch)
        if branch and self.branches():
            raise NotFound(
                f"HEAD is on the branch {branch!r}, which has no commit: --base names another",
                not_done="nothing was made",
                hint="git branch --all",
            )
        raise NoCommit(
            "this repository has no commit yet; worktrees need one to start from",
            not_done="nothing was made",
            hint="git commit --allow-empty -m 'First commit'",
        )

    def resolve(self, ref: str) -> str:
        """The commit id that `ref` names. Raises NotFound with the branches that sound alike."""
        answer = self.here.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if not answer.code and ref:
            return answer.out.strip()
        from difflib import get_close_matches

        near = get_close_matches(ref, self.branches(), n=3, cutoff=0.5)
        also = f"; did you mean {', '.join(near)}?" if near else ""
        raise NotFound(
            f"there is no commit {ref!r} in this repository{also}",
            not_done="nothing was made",
            hint="git branch --all",
        )

    def branches(self) -> dict[str, str]:
        """All local branches with the commit each is at."""
        return listing.branches(self.common)

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both commits come from; None where they have none in common."""
        return self.common.ask("merge-base", one, other).out.strip() or None

    def check_branch_name(self, name: str) -> None:
        """Raises UsageError for a name that git does not take for a branch, or file systems do not take."""
        # `--branch` alone would expand `@{-1}` to a branch that was checked out before.
        answer = self.common.ask("check-ref-format", f"refs/heads/{name}")
        if answer.code or name.startswith("-") or name == "HEAD":
            raise UsageError(
                f"{name!r} cannot be a branch name", not_done="nothing was made", hint="git help check-ref-format"
            )
        if too_long(name):
            raise UsageError(
                f"the branch name {name[:20]}... is too long: a part of it, and the folder named after it, may have"
                f" {LONGEST} bytes",
                not_done="nothing was made",
            )

    def worktrees(self) -> list[Worktree]:
        """All worktrees, the main one (or the bare hub) first."""
        return listing.worktrees(self.common)

    def others(self, known: Collection[str]) -> list[Worktree]:
        """All checkouts but those at a `known` path; cheap where only the main one is left. `oid` may be empty."""
        if self.bare:
            return [tree for tree in self.worktrees() if not tree.bare and str(tree.path) not in known]
        return listing.others(self.common, self.common_dir, self.root, known)

    def knows(self, path: Path) -> bool:
        """Whether git has an entry of a linked worktree at `path`, were its folder gone."""
        return find_entry(self.common_dir, path) is not None

    def travel(self, but: Collection[str] = ()) -> Travel:
        """What a new worktree will not get from the place we stand in; `but` are paths that it does get."""
        return listing.travel(self.here, but) if self.top else Travel()

    def untracked(self, top: Path, *, ignored: bool) -> list[str]:
        """What git does not track in the checkout `top`, or only what it ignores; whole folders end in `/`."""
        return listing.untracked(self.runner.at(top), ignored=ignored)

    def unignored(self, top: Path, names: Collection[str]) -> list[str]:
        """Those of `names` in the checkout `top` that git would show as untracked."""
        return listing.unignored(self.runner.at(top), names)

    def text_at(self, commit: str, name: str) -> str | None:
        """The text of a file as a commit has it; None where it has none."""
        answer = self.common.ask("cat-file", "blob", f"{commit}:{name}")
        return None if answer.code else answer.out

    def lock(self, patience: float = locks.PATIENCE) -> AbstractContextManager[None]:
        """The repository's lock, across processes; not re-entrant. Raises Busy or DiskFailed."""
        return locks.held(self.common_dir / "fan.lock", patience)

    def create(
        self,
        path: Path,
        branch: str,
        base_oid: str | None,
        *,
        many: bool = False,
        on_phase: Callable[[str], None] = lambda _phase: None,
    ) -> Created:
        """A complete worktree at `path` on the new `branch`; `many` says that others are filled meanwhile.

        With a `base_oid` of None the branch is there already; it may not be checked out elsewhere.
        Phases: `worktree`, `files`, `hook`. Takes the lock for the first. On an error nothing is left.
        Raises AlreadyExists, Conflict, Busy, DiskFailed, GitFailed.
        """
        from fan.world.git import create

        return create.create(self, path, branch, base_oid, many=many, on_phase=on_phase)

    def undo_create(self, path: Path, branch: str, base_oid: str | None) -> bool:
        """Takes a half-made worktree away: folder, entry, and the branch if it is still at `base_oid`.

        A branch that was there before (None) stays. Whether the branch went. Raises Dirty, and does nothing, when the
        branch has moved on.
        """
        from fan.world.git import create

        return create.undo(self, path, branch, base_oid)

    def status(self, path: Path, base_oid: str) -> WorktreeStatus | None:
        """The state of one worktree against its base; None if the folder is gone."""
        return self.statuses([(path, base_oid)])[0]

    def statuses(self, wants: Sequence[tuple[Path, str]]) -> list[WorktreeStatus | None]:
        """The state of each (path, base id), in order; None where the folder is gone."""
        return self.begin_statuses(wants)()

    def begin_statuses(self, wants: Sequence[tuple[Path, str]]) -> Callable[[], list[WorktreeStatus | None]]:
        """As `statuses`, in the background: what it returns waits for the answers."""
        answers = begin_statuses(self.runner, [path for path, _ in wants])
        return lambda: self._ahead.fill(answers(), [base for _, base in wants])

    def refresh_index(self, path: Path) -> None:
        """Makes later statuses cheap, once, a second or more after creation. A held lock is no error."""
        self.runner.at(path).ask("update-index", "-q", "--refresh")

    def merge_line(self, branch: str) -> str:
        """The command line that merges `branch` into what is checked out."""
        return f"git merge {shlex.quote(branch)}"

    def merge(self, asked: Merge) -> Merged:
        """Merges as `git merge` does in the checkout of that branch, the person's hooks included, or changes nothing.

        Raises Dirty, Conflict, NotAllowed, NotFound, Busy, DiskFailed, GitFailed.
        """
        from fan.world.git import merge

        return merge.merge(self, asked)

    def take_back_line(self, merged: Merged) -> str:
        """The command line that takes a merge back, as things are now; empty when nothing was merged."""
        from fan.world.git import merge

        return merge.take_back_line(self, merged)

    def inspect(self, path: Path, base_oid: str) -> Work:
        """What would be missed if the linked worktree at `path` went. Raises as `remove` for what is none."""
        from fan.world.git import work

        return work.inspect(self, path, base_oid)

    def remove(
        self,
        path: Path,
        *,
        archive: str,
        trash: Path,
        expect: Identity | None,
        base_oid: str,
        at: float,
        discard: bool = False,
        on_step: Callable[[str], None] = lambda _step: None,
    ) -> Removed:
        """Takes the linked worktree at `path` out so that `restore` brings it back; the branch stays.

        `at` is now, in seconds since the epoch. Steps: `recorded`, `saved`, `moved`, `removed`. A call
        that was broken off is finished by the same call again or taken back by `restore`.
        Raises NotAllowed, NotFound, Blocked, Dirty, Conflict, DiskFailed, GitFailed.
        """
        from fan.world.git import removal

        request = removal.Request(path, archive, trash, expect, base_oid, at, discard=discard)
        return removal.remove(self, request, on_step)

    def restore(self, folder: Path, *, on_step: Callable[[str], None] = lambda _step: None) -> Restored:
        """Brings a removed worktree back from its trash `folder`, or from its refs if that was swept.

        Steps: `branch`, `entry`, `moved`. Raises AlreadyExists, Conflict, NotFound, DiskFailed, GitFailed.
        """
        from fan.world.git import restore

        return restore.restore(self, folder, on_step)

    def archives(self) -> list[Archive]:
        """Removals on record in this repository, the newest first."""
        from fan.world.git import archive

        return archive.archives(self.common)

    def archived_files(self, one: Archive) -> tuple[str, ...]:
        """The names that differ between what a removed member started from and what it had."""
        from fan.world.git import archive

        return archive.files(self.common, one)

    def contents(self, one: Archive, place: Path) -> Contents:
        """What an archive holds, whose trash is (or was) at `place`."""
        from fan.world.git import archive
        from fan.world.git.trash import weight

        return Contents(archive.commits(self.common, one), archive.files(self.common, one), *weight(place))

    def delete_archive(self, name: str) -> None:
        """Drops the refs of a removal; its commits then live as long as something else names them."""
        from fan.world.git import archive

        archive.delete(self.common, name)
