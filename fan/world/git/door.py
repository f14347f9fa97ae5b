"""Which git there is, and which repository a folder belongs to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from fan.errors import GitFailed, NotAllowed, NotFound, ToolMissing
from fan.world.git.repository import Repository
from fan.world.git.run import Runner, environment

OLDEST = (2, 36)
# The own folder is the common one or lies in it, by which paths that hold a line end are told apart.
_PLACES = re.compile(
    r"(?P<common>.*?)\n(?P<own>(?P=common)(?:/.*)?|[^\n]*)\n(?P<bare>true|false)\n(?:(?P<top>.*)\n)?", re.DOTALL
)


class Git:
    """The git on the caller's PATH."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._runner = Runner(environment(environ), Path("/"))

    def version(self) -> tuple[int, int]:
        """The version of git. Raises ToolMissing when there is none or it is older than 2.36."""
        words = self._runner.run("version")
        found = re.search(r"(\d+)\.(\d+)", words)
        if found is None:
            raise ToolMissing(f"git does not tell its version: {words.strip()!r}")
        version = int(found[1]), int(found[2])
        if version < OLDEST:
            raise ToolMissing(f"git {found[0]} is too old; fan needs {OLDEST[0]}.{OLDEST[1]}", hint="apt install git")
        return version

    def repository(self, cwd: Path) -> Repository:
        """The repository that `cwd` lies in; of a removed worktree's folder in the trash, the one it came from.

        Raises NotFound outside of one, NotAllowed where git refuses to enter it.
        """
        try:
            common, git_dir, bare, top = _where(self._runner.at(cwd))
        except NotFound:
            from fan.world.git.trash import left_from

            origin = left_from(cwd)
            if origin is None:
                raise
            common, git_dir, bare, top = _where(self._runner.at(origin))
        inner = self._runner.inside(Path(common))
        if common != git_dir:
            bare = inner.line("rev-parse", "--is-bare-repository")
        hub = bare == "true"
        root = _root(inner, bare=hub)
        entered = Path(top) if top else None if hub else root
        return Repository(self._runner, root=root, common_dir=Path(common), top=entered, bare=hub)


def _where(here: Runner) -> tuple[str, str, str, str]:
    """Common folder, own folder, whether bare, and the top of the work tree we stand in (empty: in none)."""
    answer = here.ask(
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--git-dir",
        "--is-bare-repository",
        "--show-toplevel",
    )
    # Outside of a work tree, git fails at the last one only.
    found = _PLACES.fullmatch(answer.out)
    if found and (not answer.code or "must be run in a work tree" in answer.words):
        return found["common"], found["own"], found["bare"], found["top"] or ""
    words = answer.words
    if "dubious ownership" in words or "cannot use bare repository" in words:
        told = re.search(r"git config --global --add safe\.directory .+", words)
        own = f"git config --global --add safe.directory {shlex.quote(str(here.cwd))}"
        raise NotAllowed(
            f"git does not trust the repository at {here.cwd}: {words.splitlines()[0]}",
            not_done="nothing was made",
            hint=told[0] if told else own,
        )
    if "not a git repository" in words:
        raise NotFound(f"{here.cwd} is not inside a git repository", not_done="nothing was done", hint="git init")
    raise GitFailed(f"git cannot read the repository at {here.cwd}: {words}")


def _root(inner: Runner, *, bare: bool) -> Path:
    """The main worktree's top, or the folder of a bare hub: one answer for every linked worktree."""
    common_dir = inner.cwd
    if bare:
        return common_dir.parent if common_dir.name.startswith(".") else common_dir
    if common_dir.name == ".git":
        return common_dir.parent
    kept_apart = inner.ask("config", "--file", "config", "core.worktree")
    if kept_apart.code:
        return common_dir
    return (common_dir / kept_apart.out.removesuffix("\n")).resolve()
