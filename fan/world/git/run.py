"""Runs git: one environment, one set of flags, one translation of what goes wrong."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from fan.errors import Busy, GitFailed, NotFound, ToolMissing
from fan.world.files import is_folder

READ_LIMIT = 60.0
FILL_LIMIT = 3600.0
LOCK_PATIENCE = 6.0
TERM_PATIENCE = 2.0

# What `git rev-parse --local-env-vars` lists, over the versions of git since 2.36.
LOCATION_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_SUPER_PREFIX",
    "GIT_WORK_TREE",
)

# These change what a command line of ours means.
_MEANING_VARIABLES = (
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_QUARANTINE_PATH",
    "LANGUAGE",
)

_FIXED_VARIABLES = {
    "GIT_ASKPASS": "",
    "GIT_EDITOR": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
    "SSH_ASKPASS": "",
}

_FLAGS = (
    "core.quotePath=false",
    "core.fsmonitor=false",  # no file system daemon is started for a worktree
    "core.safecrlf=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
    "advice.ignoredHook=false",
    "advice.addEmbeddedRepo=false",
)
FLAGS = tuple(part for flag in _FLAGS for part in ("-c", flag))

_LOCKED = (
    r"(?:Unable to create '(?P<path>[^'\n]+\.lock)': File exists)"
    r"|(?:could not lock config file (?P<config>[^\n]+?): File exists)"
)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without what points git elsewhere, asks a question or translates."""
    dropped = {*LOCATION_VARIABLES, *_MEANING_VARIABLES}
    kept = {
        name: value
        for name, value in environ.items()
        if name not in dropped and not name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))
    }
    return kept | _FIXED_VARIABLES


def lock_in_the_way(words: str) -> str | None:
    """The lock file that git's words complain of; a config file stands for its lock."""
    found = re.search(_LOCKED, words)
    if found is None:
        return None
    return found["path"] or f"{found['config']}.lock"


class Output(Struct, frozen=True):
    """What one git said. `out` keeps undecodable bytes as surrogates."""

    code: int
    out: str
    err: str

    @property
    def fields(self) -> list[str]:
        """The NUL-terminated fields of `out`."""
        return self.out.split("\0")[:-1] if self.out else []

    @property
    def words(self) -> str:
        """What git said about a failure."""
        return (self.err.strip() or self.out.strip() or f"git ended with exit code {self.code}")[-4000:]


class Runner(Struct, frozen=True):
    """Runs git in the folder `cwd`, everywhere with the same environment and flags. Threads may share it."""

    environ: Mapping[str, str]
    cwd: Path
    lead: tuple[str, ...] = FLAGS

    def at(self, cwd: Path) -> Runner:
        """Runs in another folder, whose repository git finds itself."""
        return Runner(self.environ, cwd, FLAGS)

    def inside(self, git_dir: Path) -> Runner:
        """Runs on exactly this git folder, wherever it lies (`safe.bareRepository` forbids finding it)."""
        return Runner(self.environ, git_dir, (*FLAGS, f"--git-dir={git_dir}"))

    def ask(
        self,
        *args: str,
        feed: str | None = None,
        env: Mapping[str, str] | None = None,
        limit: float = READ_LIMIT,
    ) -> Output:
        """Runs git and gives what it said, whatever its exit code.

        Raises ToolMissing, NotFound for a folder that is gone, GitFailed when `limit` seconds have passed.
        """
        data = None if feed is None else feed.encode("utf-8", "surrogateescape")
        with self._start(args, env, feed=feed is not None) as process, _ended(process, args, limit):
            out, err = process.communicate(data, timeout=limit)
        return Output(process.returncode, _text(out), _text(err))

    def run(
        self,
        *args: str,
        feed: str | None = None,
        env: Mapping[str, str] | None = None,
        limit: float = READ_LIMIT,
    ) -> str:
        """Standard output of a git that succeeds; GitFailed with its words otherwise."""
        output = self.ask(*args, feed=feed, env=env, limit=limit)
        if output.code:
            raise GitFailed(f"git {_verb(args)} failed: {output.words}")
        return output.out

    def line(self, *args: str) -> str:
        """`run`, for a git that answers with one line."""
        return self.run(*args).removesuffix("\n")

    def ask_patiently(self, *args: str, feed: str | None = None) -> Output:
        """Like `ask`, but tries again while another git holds a lock file; Busy if it stays held."""
        return patiently(lambda: self.ask(*args, feed=feed))

    def ask_by_file(self, *args: str, limit: float) -> Output:
        """Like `ask`, for a program that may leave a child behind which holds its output open."""
        import tempfile

        with tempfile.TemporaryFile() as sink:
            with self._start(args, None, sink=sink.fileno()) as process, _ended(process, args, limit):
                process.wait(timeout=limit)
            sink.seek(0)
            return Output(process.returncode, "", _text(sink.read()))

    def _start(
        self,
        args: tuple[str, ...],
        env: Mapping[str, str] | None,
        *,
        feed: bool = False,
        sink: int = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        try:
            # A session of its own: Ctrl-C in the terminal lets a step that has begun finish.
            return subprocess.Popen(
                ["git", *self.lead, *args],
                cwd=self.cwd,
                env={**self.environ, **(env or {})},
                stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            if is_folder(self.cwd):
                raise ToolMissing(
                    "git is not installed or not on PATH",
                    not_done="nothing was done",
                    hint="apt install git",
                ) from error
            raise NotFound(f"the folder {self.cwd} does not exist") from error
        except (NotADirectoryError, PermissionError) as error:
            raise NotFound(f"the folder {self.cwd} cannot be entered: {error.strerror}") from error
        except OSError as error:
            raise GitFailed(f"git cannot be started: {error.strerror}") from error


def patiently(attempt: Callable[[], Output]) -> Output:
    """Tries again for a few seconds while another git holds a lock file.

    A lock that stays raises Busy with its file. Any other outcome is given back as it is.
    """
    output = attempt()
    if not output.code or lock_in_the_way(output.words) is None:
        return output
    from tenacity import Retrying, retry_if_result, stop_after_delay, wait_random_exponential

    again = Retrying(
        retry=retry_if_result(lambda answer: answer.code != 0 and lock_in_the_way(answer.words) is not None),
        stop=stop_after_delay(LOCK_PATIENCE),
        wait=wait_random_exponential(multiplier=0.02, max=0.4),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else output,
    )
    output = again(attempt)
    held = lock_in_the_way(output.words) if output.code else None
    if held is not None:
        raise Busy(
            f"another git holds the lock {held}; it did not go away in {LOCK_PATIENCE:.0f} seconds; where none"
            " is running any more, that file is left over",
            hint=f"rm {shlex.quote(str(held))}",
        )
    return output


@contextmanager
def _ended(process: subprocess.Popen[bytes], args: tuple[str, ...], limit: float) -> Iterator[None]:
    """Ends git with the filters and hooks below it when the wait for it is broken off."""
    try:
        yield
    except BaseException as error:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)  # on which git takes its lock files away
            with suppress(subprocess.TimeoutExpired):
                process.wait(TERM_PATIENCE)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise GitFailed(f"git {_verb(args)} did not finish in {limit:.0f} seconds and was ended") from error
        raise


def _verb(args: tuple[str, ...]) -> str:
    words = [word for word in args if not word.startswith("-") and "=" not in word]
    return " ".join(words[:2] if words[0] in {"worktree", "hook"} else words[:1])


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")
