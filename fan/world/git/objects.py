"""Reads refs and commits as objects, by GitPython, which is only imported when this is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fan.errors import GitFailed
from fan.world.git.run import Runner

if TYPE_CHECKING:
    from git import Repo


@dataclass(frozen=True, slots=True)
class CommitRef:
    """A ref with its commit's id and the last line of the message."""

    path: str
    oid: str
    last_line: str


class Objects:
    """The refs and commits of one repository."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def refs_below(self, prefix: str) -> Iterator[CommitRef]:
        """All refs whose name begins with the path `prefix`, by name. Raises GitFailed for a broken one."""
        from git import Reference

        try:
            for ref in Reference.iter_items(self._repo, prefix):
                commit = ref.commit
                message = commit.message if isinstance(commit.message, str) else commit.message.decode()
                yield CommitRef(ref.path, commit.hexsha, message.strip().rpartition("\n")[2])
        except (ValueError, OSError) as error:
            raise GitFailed(f"git cannot read the refs below {prefix}: {error}") from error


@contextmanager
def open_repo(common: Runner) -> Iterator[Objects]:
    """The objects of the repository that `common` runs on."""
    from git import Repo

    with Repo(common.cwd) as repo:
        # GitPython adds the process's own variables, which may point to another repository.
        repo.git.update_environment(
            **common.environ,
            GIT_DIR=str(common.cwd),
            GIT_COMMON_DIR=str(common.cwd),
            GIT_OBJECT_DIRECTORY=str(common.cwd / "objects"),
        )
        yield Objects(repo)
