"""Environment variables that belong to one member, or to one pane, and pass to no other."""

from __future__ import annotations

WHO = ("FAN_MEMBER", "FAN_GROUP", "FAN_PANE", "FAN_LAUNCH", "FAN_REQUESTS")
"""Whoever has these says that it is the member's agent."""
PROGRAM = "FAN_BIN"
OF_A_MEMBER = (*WHO, PROGRAM, "FAN_PORT", "FAN_PORT_COUNT")
OF_A_PANE = ("TMUX", "TMUX_PANE")
