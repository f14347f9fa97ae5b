"""The tools on standard input and output, for an agent that has started this process as its child."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from fan import __version__
from fan.errors import FanError, NotFound
from fan.mcp.table import TOOLS, Tool
from fan.render.values import as_json
from fan.world.world import open_world

NAMES: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


def run() -> None:
    """Answer until the input ends."""
    anyio.run(_serve)


def answer(name: str, given: Mapping[str, Any]) -> tuple[str, bool]:
    """What a call gives as JSON, and whether it was refused: then it says what was not done."""
    try:
        return as_json(_called(name, given)), False
    except FanError as error:
        return as_json({"error": error.as_dict()}), True


def _called(name: str, given: Mapping[str, Any]) -> object:
    """Who calls is told by the processes above this one, anew each time."""
    if name not in NAMES:
        raise NotFound(f"the tools are {', '.join(NAMES)}", not_done="nothing was done")
    tool = NAMES[name]
    arguments = tool.checked(given)
    world = open_world(os.environ, Path.cwd())
    try:
        return tool.run(world, arguments)
    finally:
        world.store.close()


async def _serve() -> None:
    server = Server("fan", version=__version__, on_list_tools=_listed, on_call_tool=_answered)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _listed(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=tool.name,
                description=tool.about,
                input_schema=tool.schema(),
                annotations=types.ToolAnnotations(read_only_hint=not tool.writes, destructive_hint=False),
            )
            for tool in TOOLS
        ]
    )


async def _answered(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text, refused = await anyio.to_thread.run_sync(answer, params.name, params.arguments or {})
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=refused)
