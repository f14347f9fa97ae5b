"""Verbs as tools of the Model Context Protocol."""

from __future__ import annotations

from fan.errors import ToolMissing


def serve() -> None:
    """Answer on standard input and output until the input ends. Raises ToolMissing without the package `mcp`."""
    try:
        # 860 ms and 70 MB, and an extra of its own.
        from fan.mcp.server import run
    except ModuleNotFoundError as error:
        raise ToolMissing(
            f"fan mcp needs the Python package `mcp`, 2.3 or newer: {error.name} is missing",
            not_done="no server was started",
            hint="pip install 'worktree-fan[mcp]'",
        ) from error
    run()
