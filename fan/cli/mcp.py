"""`mcp`: mail and waiting as tools of the Model Context Protocol."""

from __future__ import annotations

import typer

from fan.cli.common import verb


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "mcp", "fan mcp")(mcp)


def mcp() -> int:
    """Serve mail and waiting as MCP tools on standard input and output, to an agent that starts this itself."""
    from fan.mcp import serve

    serve()
    return 0
