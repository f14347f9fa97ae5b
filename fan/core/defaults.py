"""What verbs do where nothing else is asked for; a command line shows it in its help without loading them."""

from __future__ import annotations

ASK_SECONDS = 300.0
ASK_HUMAN_SECONDS = 120.0
WAIT_SECONDS = 30.0
WAIT_STATES = ("rest", "needs_input", "exited")
MESSAGES_SHOWN = 20
EVENTS_SHOWN = 100
