"""How a program becomes the process of a pane, with exactly the environment it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fan.core.variables import OF_A_PANE
from fan.errors import TmuxFailed, TooLarge
from fan.world.files import is_folder
from fan.world.tmux import options
from fan.world.tmux.quoting import Command, literal
from fan.world.tmux.transport import ARGUMENT_BYTES

SERVER_NAMES = ("HOME", "PATH")
"""All that our server itself knows of the environment it was started from."""

_OURS = frozenset({*OF_A_PANE, "FAN_PANE"})

# $1 is the SHELL of the caller (tmux sets its own), $2 a fifo to wait on. Keys typed while it waits are
# thrown away: the agent's first question must not be answered by them.
_SCRIPT = """\
if [ -n "$1" ]; then SHELL=$1; export SHELL; else unset SHELL; fi
if [ -n "$2" ]; then
  echo "fan: waits until the first agent's trust question is answered"
  read -r TMUX <"$2"
  TMUX=$(stty -g); stty -icanon -echo min 0 time 0; cat >/dev/null; stty "$TMUX"
fi
FAN_PANE=$TMUX_PANE; export FAN_PANE; unset TMUX TMUX_PANE
shift 2; exec "$@"
"""


def wrapped(argv: Sequence[str], env: Mapping[str, str], held: Path | None) -> list[str]:
    """The argument list of the pane's process, which becomes `argv` itself."""
    waits = "" if held is None else str(held)
    return ["/bin/sh", "-c", _SCRIPT, "fan", env.get("SHELL", ""), waits, *argv]


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the creating client carries. Raises TooLarge for a value that tmux would drop in silence."""
    for name, value in env.items():
        if not fits(name, value):
            raise TooLarge(
                f"the environment variable {name} is larger than tmux can carry (15 KB)",
                not_done="no session was opened",
                hint=f"unset {name}",
            )
    return {name: value for name, value in env.items() if name not in _OURS}


def fits(name: str, value: str) -> bool:
    """Whether tmux can carry this variable."""
    return len(f"{name}={value}".encode(errors="surrogateescape")) <= ARGUMENT_BYTES


def creation(name: str, cwd: Path, argv: Sequence[str], names: Sequence[str]) -> list[Command]:
    """The commands up to the new session; what is set on it may follow in the same chain."""
    if not is_folder(cwd):
        raise TmuxFailed(f"the folder {cwd} is not there", not_done=f"session {name} was not opened")
    size = ("-x", str(options.WIDTH), "-y", str(options.HEIGHT))
    where = ("-s", literal(name), "-c", literal(str(cwd)))
    return [
        options.server(),
        options.environment({*names, *SERVER_NAMES}),
        ("new-session", "-d", *size, *where, *argv),
    ]


def marks(name: str, marked: Mapping[str, str]) -> list[Command]:
    """Session options that make a session one of ours."""
    target = f"={name}:"
    own = [("set-option", "-t", target, f"@fan_{key}", value) for key, value in marked.items()]
    return [
        *own,
        ("set-option", "-F", "-t", target, "@fan_pane", "#{pane_id}"),
        ("set-option", "-w", "-t", target, "window-size", "manual"),
    ]
