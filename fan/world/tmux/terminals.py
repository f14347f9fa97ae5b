"""The terminals that show a session."""

from __future__ import annotations

import contextlib
import os

TERMINALS = ("list-clients", "-F", "#{?client_control_mode,,#{client_tty}}")
"""Asks for the terminals of all clients, one a line; empty for a client that has none."""


def ring(terminal: str) -> None:
    """Ring its bell, past tmux, which rings only for what happens in the session that is shown."""
    # It may have been closed in this moment, and one that is stuck must not keep us.
    with contextlib.suppress(OSError):
        handle = os.open(terminal, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            os.write(handle, b"\a")
        finally:
            os.close(handle)
