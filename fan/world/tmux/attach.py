"""Showing a session to the person, in their terminal or as a window of their own tmux."""

from __future__ import annotations

import os
import shlex
from typing import NoReturn

from fan.core.model import Pane
from fan.errors import TmuxFailed
from fan.world.tmux import options, quoting
from fan.world.tmux.door import Tmux
from fan.world.tmux.transport import client_environment

SHOWS = "@fan-shows"
"""The option of a window in the person's tmux that names what it shows."""


def attach(tmux: Tmux, pane: Pane) -> None:
    """Become the client of the pane's session; inside the person's tmux, open a window there instead.

    Returns only in the second case. Raises TmuxFailed.
    """
    if tmux.environ.get("TMUX"):
        open_window_for_person(tmux, pane)
    else:
        _become(tmux, pane)


def open_window_for_person(tmux: Tmux, pane: Pane) -> None:
    """A window in the tmux of `$TMUX` that shows the session without a second status line and prefix.

    One that shows it already is gone to instead.
    """
    # 110 ms to import, and only needed here.
    from libtmux import Server
    from libtmux.exc import LibTmuxException

    socket, _, rest = tmux.environ["TMUX"].partition(",")
    session = f"${rest.rpartition(',')[2]}:"
    name = quoting.literal(f"{pane.session} ({options.LEAVE_KEY} leaves)")
    server, shows = Server(socket_path=socket), f"{tmux.socket} {pane.session_id}"
    try:
        listed = server.cmd("list-windows", "-t", session, "-F", f"#{{window_id}} #{{{SHOWS}}}").stdout
        there = [window for window, _, what in (line.partition(" ") for line in listed) if what == shows]
        if there:
            server.cmd("select-window", "-t", there[0])
            return
        made = server.cmd(
            "new-window", "-P", "-F", "#{window_id}", "-t", session, "-n", name, nested_command(tmux, pane)
        )
        if made.stdout:
            server.cmd("set-option", "-w", "-t", made.stdout[0], SHOWS, shows)
    except LibTmuxException as error:
        raise _not_opened(tmux, pane, str(error)) from error
    # A hook of the person's may fail after the window was made.
    if not made.stdout:
        raise _not_opened(tmux, pane, " ".join(made.stderr))


def nested_command(tmux: Tmux, pane: Pane) -> str:
    """The shell line for a window inside another tmux."""
    after = quoting.arguments(options.nested(pane.session_id))
    plain = ["env", "-u", "TMUX", "-u", "TMUX_PANE"]
    return shlex.join([*plain, *tmux.attach_argv(pane.session_id), ";", *after])


def _become(tmux: Tmux, pane: Pane) -> NoReturn:
    argv = tmux.attach_argv(pane.session_id)
    if not (os.isatty(0) and os.isatty(1)):
        raise TmuxFailed(
            f"{pane.session} can only be shown in a terminal, and this is none",
            not_done="no session was shown",
            hint=shlex.join(["env", "-u", "TMUX", *argv]),
        )
    try:
        os.execve(argv[0], argv, client_environment(tmux.environ))  # noqa: S606
    except OSError as error:
        raise _not_opened(tmux, pane, str(error)) from error


def _not_opened(tmux: Tmux, pane: Pane, reason: str) -> TmuxFailed:
    return TmuxFailed(
        f"your tmux did not open a window: {reason or 'no reason given'}",
        not_done=f"{pane.session} is not shown; its agent goes on",
        hint=shlex.join(["env", "-u", "TMUX", *tmux.attach_argv(pane.session_id)]),
    )
