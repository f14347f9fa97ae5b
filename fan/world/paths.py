"""Where `fan` keeps its things. Every folder is the user's alone (0700)."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from fan.errors import BadSetting

APP = "fan"
LONGEST_SOCKET = 100


class Paths(Struct, frozen=True):
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

    def requests(self, member_id: str) -> Path:
        """Where a member in a sandbox leaves its requests: the one folder of ours that it can write to."""
        return self.member(member_id) / "requests"

    @property
    def variables(self) -> dict[str, str]:
        """The environment in which `find` finds these folders."""
        return {
            "FAN_STATE_DIR": str(self.state),
            "FAN_WORKTREE_DIR": str(self.worktrees),
            "FAN_CONFIG_DIR": str(self.config),
            "FAN_RUNTIME_DIR": str(self.runtime),
        }


def find(environ: Mapping[str, str]) -> Paths:
    """The folders for this user: the platform's custom, each overridden by its `FAN_*_DIR`.

    Raises BadSetting for one that is no absolute path: it would be another folder wherever one stands.
    """
    state = _given(environ, "FAN_STATE_DIR") or _custom("user_state_path")
    worktrees = _given(environ, "FAN_WORKTREE_DIR") or _custom("user_data_path") / "worktrees"
    config = _given(environ, "FAN_CONFIG_DIR") or _custom("user_config_path")
    return Paths(state, worktrees, config, _given(environ, "FAN_RUNTIME_DIR") or _runtime(environ, state))


def _given(environ: Mapping[str, str], name: str) -> Path | None:
    given = environ.get(name, "")
    if given and not os.path.isabs(given):  # noqa: PTH117
        raise BadSetting(
            f"{name} must be an absolute path, not `{given}`",
            not_done="nothing was done",
            hint=f"export {name}={shlex.quote(os.path.abspath(given))}",  # noqa: PTH100
        )
    return Path(os.path.normpath(given)) if given else None


def _custom(kind: str) -> Path:
    # 10 ms to import; whatever an agent of ours runs has all folders in its environment.
    import platformdirs

    found: Path = getattr(platformdirs, kind)(APP)
    return found


def _runtime(environ: Mapping[str, str], state: Path) -> Path:
    """A folder short enough for a socket, one for each state folder, so that two of them never share a server."""
    from zlib import crc32

    mark = f"{crc32(os.fsencode(state)):08x}"
    base = environ.get("XDG_RUNTIME_DIR", "")
    if base and len(base) < LONGEST_SOCKET - 30 and os.path.isdir(base):  # noqa: PTH112
        return Path(base) / f"fan-{mark}"
    return Path("/tmp") / f"fan-{os.getuid()}-{mark}"  # noqa: S108 - made 0700 and checked to be ours


def trash_of(worktrees: Path) -> Path:
    """Where removed worktrees lie: beside the worktrees, on the same file system."""
    return worktrees / ".trash"
