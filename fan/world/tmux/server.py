"""Starting our server and making sessions on it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from fan.errors import AlreadyExists, TmuxFailed, ToolMissing
from fan.world.files import private_folder
from fan.world.tmux import launch
from fan.world.tmux.quoting import Command
from fan.world.tmux.transport import (
    LIMIT_SECONDS,
    NoServer,
    Output,
    ProcessTransport,
    client_environment,
    program,
)

OLDEST = (3, 2)
SOCKET_BYTES = 100


def version(environ: Mapping[str, str]) -> tuple[int, int]:
    """The version of the tmux on PATH. Raises ToolMissing when there is none or it is too old."""
    command = [program(environ), "-V"]
    try:
        said = subprocess.run(
            command,
            env=client_environment(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TmuxFailed(f"tmux could not be run: {error}", hint="fan doctor") from error
    return checked_version(said)


def checked_version(said: str) -> tuple[int, int]:
    """The version in what `tmux -V` said; one without a number is a development build."""
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None:
        return (99, 0)
    number = (int(found[1]), int(found[2]))
    if number < OLDEST:
        raise ToolMissing(
            f"{said.strip()} is too old: fan needs {OLDEST[0]}.{OLDEST[1]}",
            not_done="nothing was opened",
            hint="apt install tmux",
        )
    return number


def check_socket(socket: Path) -> None:
    """Refuse a path that tmux cannot bind. Raises TmuxFailed."""
    if len(os.fsencode(socket)) > SOCKET_BYTES:
        raise TmuxFailed(
            f"the socket path {socket} is longer than the {SOCKET_BYTES} bytes that tmux takes",
            not_done="no tmux server was started",
            hint="export FAN_RUNTIME_DIR=SHORTER_FOLDER",
        )


def create(process: ProcessTransport, name: str, commands: Sequence[Command], env: Mapping[str, str]) -> Output:
    """Run the chain that makes session `name`, starting the server if need be. Raises AlreadyExists."""
    try:
        made = _create(process, commands, env)
    except NoServer:
        # A server that is just ending refuses clients for some milliseconds. This takes 50 ms to load.
        from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

        ending = Retrying(
            retry=retry_if_exception_type(NoServer), stop=stop_after_delay(5), wait=wait_fixed(0.05), reraise=True
        )
        made = ending(_create, process, commands, env)
    return _refuse_duplicate(made, name)


def _refuse_duplicate(output: Output, name: str) -> Output:
    """The output of a command that names a session. Raises AlreadyExists, TmuxFailed."""
    if "duplicate session" in output.error:
        raise AlreadyExists(f"a session named {name} is already there", not_done="nothing was opened", hint="fan ls")
    return succeeded(output)


def succeeded(output: Output) -> Output:
    """The output, of a command that succeeded. Raises TmuxFailed in tmux's own words."""
    if not output.ok:
        raise TmuxFailed(f"tmux refused: {output.error or 'the command was not run'}", hint="fan doctor")
    return output


def _create(process: ProcessTransport, commands: Sequence[Command], env: Mapping[str, str]) -> Output:
    try:
        return process.chain(commands, env=env)
    except NoServer:
        _start(process)
        return process.chain(commands, env=env)


def _start(process: ProcessTransport) -> None:
    """Start the server knowing nearly nothing of our environment, and standing in no folder of ours."""
    private_folder(process.socket.parent)
    known = {name: process.environ[name] for name in launch.SERVER_NAMES if name in process.environ}
    stay = (("start-server",), ("set-option", "-g", "exit-empty", "off"))
    succeeded(process.chain(stay, env=known, cwd="/", start=True))
