"""The tools on standard input and output, for an agent that has started this process as its child."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from fan import __version__
from fan.core.secrets import masked
from fan.errors import DiskFailed, FanError, NotFound
from fan.mcp.table import TOOLS, Tool
from fan.mcp.wire import Answers, Line
from fan.render import bugs
from fan.render.values import as_json
from fan.world.world import World, open_world

NAMES: dict[str, Tool] = {tool.name: tool for tool in TOOLS}
Found = TypeVar("Found")


def run() -> None:
    """Answer until the input ends, or nobody takes the answers. Raises DiskFailed when they cannot be written."""
    lost = anyio.run(_serve)
    if lost and not isinstance(lost, BrokenPipeError):
        raise DiskFailed(f"standard output cannot be written to: {lost.strerror}", hint="fan mcp --help")


def answer(name: str, given: Mapping[str, Any], line: Line) -> tuple[str, bool]:
    """What a call gives as JSON, and whether it was refused: then it says what was not done."""
    try:
        return as_json(_called(name, given, line)), False
    except FanError as error:
        return _refusal(error), True
    except Exception as error:  # noqa: BLE001 - a bug of ours is logged, and is an answer like any other
        return _refusal(bugs.logged(error)), True


def act(once_out: Callable[[World], None]) -> None:
    """Do what was to be done once an answer is out; if that fails, standard error is where it can still be told."""
    try:
        _in_world(once_out)
    except FanError as error:
        sys.stderr.write(f"fan: {masked(error.message)}\n")


def _called(name: str, given: Mapping[str, Any], line: Line) -> object:
    """Who calls is told by the processes above this one, anew each time."""
    if name not in NAMES:
        raise NotFound(f"the tools are {', '.join(NAMES)}", not_done="nothing was done")
    tool = NAMES[name]
    arguments = tool.checked(given)
    return _in_world(lambda world: tool.run(world, arguments, line))


def _refusal(error: FanError) -> str:
    """It may repeat a name, an id or a path that was given, whatever that is."""
    return as_json({"error": {name: masked(text) for name, text in error.as_dict().items()}})


def _in_world(do: Callable[[World], Found]) -> Found:
    world = open_world(os.environ, Path.cwd())
    try:
        return do(world)
    finally:
        world.store.close()


async def _serve() -> OSError | None:
    with anyio.CancelScope() as scope:
        answers = Answers(act, scope.cancel)
        server = Server("fan", version=__version__, on_list_tools=_listed, on_call_tool=_answering(answers))
        # All that the library does with it is to write and to flush.
        async with stdio_server(stdout=cast("anyio.AsyncFile[str]", answers)) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    return answers.lost


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


def _answering(answers: Answers) -> Any:
    async def answered(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        await answers.settled()
        reader, writer = os.pipe()
        line = Line(os.fdopen(reader, "rb", buffering=0))
        try:
            # Cancelled when the input ends or the caller says so: what runs on in its thread sees the pipe's end.
            text, refused = await anyio.to_thread.run_sync(
                answer, params.name, params.arguments or {}, line, abandon_on_cancel=True
            )
        finally:
            os.close(writer)
        answers.expect(context.request_id, line.once_out)
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=refused)

    return answered
