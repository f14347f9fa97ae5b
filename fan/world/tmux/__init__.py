"""The tmux door: the only place that runs tmux."""

from __future__ import annotations

from fan.world.tmux.attach import attach
from fan.world.tmux.door import COURIER_SESSION, Outcome, Tmux
from fan.world.tmux.transport import NoServer

__all__ = ["COURIER_SESSION", "NoServer", "Outcome", "Tmux", "attach"]
