"""The fixtures of all who run the whole command, and the suite's guard: no test touches the person's own things."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import fan
from tests.support.puppets import puppets

__all__ = ["fan", "puppets"]

# A shell starts what runs in the background deaf to Ctrl-C, and every program that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

HOME = Path(os.path.expanduser("~"))  # noqa: PTH111 - before any test changes HOME
OURS = (".local/state/fan", ".local/share/fan", ".config/fan", "Library/Application Support/fan")
THEIRS = (
    ".gitconfig",
    ".config/git/config",
    ".claude.json",
    ".claude",
    ".codex",
    ".tmux.conf",
    ".local/state/fan-demo",
)


class TouchedThePersonsOwnThings(AssertionError):
    """A test reached outside: give it a home, a git config and a tmux socket of its own (tests/support)."""


def _default_socket() -> Path:
    folder = os.environ.get("TMUX_TMPDIR") or "/tmp"
    return Path(folder) / f"tmux-{os.getuid()}" / "default"


def _marks() -> dict[Path, tuple[int, int, int] | None]:
    """What must not change: the default tmux socket, and what `fan` and agents keep in the real home."""
    paths = [_default_socket(), *(HOME / name for name in (*OURS, *THEIRS))]
    return {path: _mark(path) for path in paths}


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@pytest.fixture(autouse=True)
def _nothing_of_the_persons_is_touched() -> Iterator[None]:
    before = _marks()
    yield
    touched = [str(path) for path, mark in _marks().items() if mark != before[path]]
    if touched:
        raise TouchedThePersonsOwnThings(", ".join(touched))
