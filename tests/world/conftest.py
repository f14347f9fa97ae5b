"""Fixtures of the doors' tests."""

from __future__ import annotations

from tests.support.tmux import ground_fixture, tmux_socket

__all__ = ["ground_fixture", "tmux_socket"]
