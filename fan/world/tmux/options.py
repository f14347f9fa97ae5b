"""Our server's settings: no file of the person's is read, so `-g` is ours alone."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from fan.world.tmux.quoting import Command, line

WIDTH, HEIGHT = 220, 50
LEAVE_KEY = "C-]"

_EXITED = (
    "the agent has exited"
    "#{?#{!=:#{pane_dead_status},}, with code #{pane_dead_status},}"
    "#{?#{!=:#{pane_dead_signal},}, by signal #{pane_dead_signal},}"
)

_OPTIONS = {
    "remain-on-exit": "on",
    "window-size": "latest",
    "default-size": f"{WIDTH}x{HEIGHT}",
    "history-limit": "20000",
    "mouse": "on",
    "set-titles": "off",
    "allow-rename": "off",
    "automatic-rename": "off",
    "escape-time": "10",
    "focus-events": "off",
    "status-interval": "0",
    "status-left": " #S ",
    "status-left-length": "60",
    "status-right": (
        "#{?@fan_waiting,#[bold] #{@fan_waiting} for you: fan ls --waiting #[nobold]·,}"
        " #{prefix} d leaves, the agent goes on "
    ),
    "status-right-length": "90",
    "window-status-format": "",
    "window-status-current-format": "",
}

# A window keeps the size of the client that left last: pinned again where nobody looks, free where
# somebody does. Leaving also ends what `nested` set.
_PIN = f"resize-window -t #{{@fan_pane}} -x {WIDTH} -y {HEIGHT}"
_FREE = "set-option -wu -t #{@fan_pane} window-size"
_PLAIN = " ; ".join(f"set-option -u -t #{{session_id}}: {name}" for name in ("status", "prefix", "@fan_nested"))
_EACH = f"#{{?session_attached,{_FREE},{_PIN} ; {_PLAIN}}} ; "
_FOLLOW = line(("run-shell", "-C", f"#{{S:#{{?@fan_pane,{_EACH},}}}}"))
_HOOKS = ("client-attached", "client-detached", "client-session-changed")


def server() -> Command:
    """Tells our server everything, unless it has been told exactly this before."""
    options = [("set-option", "-g", name, value) for name, value in _OPTIONS.items()]
    hooks = [("set-hook", "-g", name, _FOLLOW) for name in _HOOKS]
    leave = ("if-shell", "-F", "#{@fan_nested}", "detach-client", f"send-keys {LEAVE_KEY}")
    commands: list[Command] = [
        *options,
        *hooks,
        # Unknown before 3.3.
        ("set-option", "-gq", "remain-on-exit-format", _EXITED),
        ("bind-key", "-n", LEAVE_KEY, *leave),
        # It was started to stay without a session.
        ("set-option", "-g", "exit-empty", "on"),
    ]
    told = " ; ".join(line(command) for command in commands)
    version = f"{crc32(told.encode()):08x}"
    known = f"#{{==:#{{@fan_options}},{version}}}"
    return ("if-shell", "-F", known, "", f"{told} ; set-option -g @fan_options {version}")


def environment(names: Iterable[str]) -> Command:
    """New sessions take exactly these names from the client that makes them, and lose those it lacks."""
    return ("set-option", "-g", "update-environment", " ".join(sorted(names)))


def badge(count: int) -> Command:
    """How many things wait for the person, in the status line of every session; 0: nothing is said."""
    return ("set-option", "-g", "@fan_waiting", str(count))


def nested(session_id: str) -> list[Command]:
    """Status line and prefix off for a session shown inside another tmux, but for the key to leave."""
    options = (("status", "off"), ("prefix", "None"), ("@fan_nested", "1"))
    return [("set-option", "-t", f"{session_id}:", name, value) for name, value in options]
