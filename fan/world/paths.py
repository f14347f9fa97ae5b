"""Where `fan` keeps its things. Every folder is the user's alone (0700)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import platformdirs

APP = "fan"
LONGEST_SOCKET = 100


@dataclass(frozen=True, slots=True)
class Paths:
    """`state` holds the store and the members' own folders, `worktrees` the checkouts, `config` what the person
    wrote, `runtime` the tmux socket, locks and fifos."""

    state: Path
    worktrees: Path
    config: Path
    runtime: Path

    @property
    def socket(self) -> Path:
        """The tmux socket of `fan`'s own server."""
        return self.runtime / "tmux"

    @property
    def bell(self) -> Path:
        """The fifo that wakes the courier."""
        return self.runtime / "bell"

    @property
    def courier_lock(self) -> Path:
        """Held by the one courier."""
        return self.state / "courier.lock"

    @property
    def recipes(self) -> Path:
        """The person's own recipes."""
        return self.config / "recipes"

    @property
    def logs(self) -> Path:
        """Where a bug of ours leaves its traceback."""
        return self.state / "logs"

    def hold(self, member_id: str) -> Path:
        """The fifo at which a member's session waits for the first one's trust question to be answered."""
        return self.runtime / f"hold-{member_id}"

    def member(self, member_id: str) -> Path:
        """The folder of ours that belongs to one member."""
        return self.state / "members" / member_id


def find(environ: Mapping[str, str]) -> Paths:
    """The folders for this user: platform defaults, each overridden by its `FAN_*_DIR`."""
    state = _folder(environ, "FAN_STATE_DIR", platformdirs.user_state_path(APP))
    worktrees = _folder(environ, "FAN_WORKTREE_DIR", platformdirs.user_data_path(APP) / "worktrees")
    config = _folder(environ, "FAN_CONFIG_DIR", platformdirs.user_config_path(APP))
    runtime = _folder(environ, "FAN_RUNTIME_DIR", _runtime(environ, state))
    return Paths(state, worktrees, config, runtime)


def _folder(environ: Mapping[str, str], name: str, default: Path) -> Path:
    return Path(os.path.abspath(environ[name])) if environ.get(name) else default  # noqa: PTH100


def _runtime(environ: Mapping[str, str], state: Path) -> Path:
    """A folder short enough for a socket, one for each state folder, so that two of them never share a server."""
    mark = f"{crc32(os.fsencode(state)):08x}"
    base = environ.get("XDG_RUNTIME_DIR", "")
    if base and len(base) < LONGEST_SOCKET - 30 and Path(base).is_dir():
        return Path(base) / f"fan-{mark}"
    return Path("/tmp") / f"fan-{os.getuid()}-{mark}"  # noqa: S108 - made 0700 and checked to be ours


def trash_of(worktrees: Path) -> Path:
    """Where removed worktrees lie: beside the worktrees, on the same file system."""
    return worktrees / ".trash"
