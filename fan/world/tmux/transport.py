"""Two ways to a tmux server behind one protocol; this one runs a process a call."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from fan.errors import TargetGone, TmuxFailed, TooLarge, ToolMissing
from fan.world.files import which
from fan.world.tmux import quoting
from fan.world.tmux.quoting import Command

LIMIT_SECONDS = 10.0
# A client's argument list travels in one message of 16 KiB.
ARGUMENT_BYTES = 15_000

_NO_SERVER = r"no server running|error connecting to|lost server|server exited"


class NoServer(TargetGone):
    """No tmux server listens on the socket, or it went away."""


class Output(Struct, frozen=True):
    """What one command printed; `error` is tmux's own sentence, empty where it succeeded.

    `ran` is false for a command that was not run because an earlier one of its call failed.
    """

    text: str = ""
    error: str = ""
    ran: bool = True

    @property
    def ok(self) -> bool:
        """Whether the command ran and succeeded."""
        return self.ran and not self.error


class Transport(Protocol):
    """Runs commands in order, answers one Output each. Raises NoServer, TmuxFailed."""

    def run(self, commands: Sequence[Command]) -> list[Output]: ...

    def close(self) -> None: ...


def program(environ: Mapping[str, str]) -> str:
    """The tmux on PATH. Raises ToolMissing."""
    found = which("tmux", environ.get("PATH"))
    if found is None:
        raise ToolMissing(
            "tmux was not found on PATH: fan needs tmux 3.2 or newer",
            not_done="nothing was opened",
            hint="apt install tmux",
        )
    return found


def client_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a client of ours: it must not know of the tmux it may run in."""
    return {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE")}


def client_command(socket: Path, environ: Mapping[str, str], *, start: bool = False) -> list[str]:
    """How every client begins: UTF-8, our socket, no file of the person's, no server unless `start`."""
    base = [program(environ), "-u", "-S", str(socket), "-f", "/dev/null"]
    return base if start else [*base, "-N"]


class ProcessTransport:
    """One tmux client a call, the commands chained."""

    def __init__(self, socket: Path, environ: Mapping[str, str]) -> None:
        self.socket = socket
        self.environ = environ

    def run(self, commands: Sequence[Command]) -> list[Output]:
        """Run in order; the commands after a failed one are not run."""
        token = os.urandom(6).hex()
        outputs: list[Output] = []
        for chain in _cut(commands, token):
            if outputs and not outputs[-1].ok:
                outputs.extend(Output(ran=False) for _ in chain)
            else:
                outputs.extend(self._marked(chain, token))
        return outputs

    def chain(
        self,
        commands: Sequence[Command],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        start: bool = False,
    ) -> Output:
        """Run as one tmux command with `env` as the client's environment; nobody else's comes between."""
        environ = client_environment(self.environ if env is None else env)
        begin = client_command(self.socket, self.environ, start=start)
        return _outcome(_client([*begin, *quoting.arguments(commands)], environ, cwd))

    def close(self) -> None:
        """Nothing is held open."""

    def _marked(self, chain: Sequence[Command], token: str) -> list[Output]:
        mark: Command = ("display-message", "-p", token)
        whole = self.chain([step for command in chain for step in (command, mark)])
        *done, rest = f"{whole.text}\n".split(f"{token}\n")
        outputs = [Output(text.removesuffix("\n")) for text in done]
        if whole.ok and len(outputs) == len(chain):
            return outputs
        if len(outputs) == len(chain):
            # What failed was run by a command such as if-shell, which does not end the chain.
            rest = outputs.pop().text
        failed = Output(rest.removesuffix("\n"), whole.error or "tmux gave no answer")
        skipped = len(chain) - len(outputs) - 1
        return [*outputs, failed, *(Output(ran=False) for _ in range(skipped))]


def _cut(commands: Sequence[Command], token: str) -> Iterator[list[Command]]:
    chain: list[Command] = []
    size = 0
    for command in commands:
        needed = sum(len(word.encode(errors="surrogateescape")) + 2 for word in command) + len(token) + 24
        if chain and size + needed > ARGUMENT_BYTES:
            yield chain
            chain, size = [], 0
        chain.append(command)
        size += needed
    if chain:
        yield chain


def _client(argv: list[str], environ: Mapping[str, str], cwd: str | None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            env=dict(environ),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_SECONDS,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise TmuxFailed(f"tmux did not answer within {LIMIT_SECONDS:.0f} s", hint="fan doctor") from late
    except OSError as error:
        raise TmuxFailed(f"tmux could not be run: {error}", hint="fan doctor") from error


def _outcome(client: subprocess.CompletedProcess[str]) -> Output:
    said = client.stderr.strip()
    if client.returncode == 0 and not said:
        return Output(client.stdout.removesuffix("\n"))
    if re.search(_NO_SERVER, said):
        raise NoServer(f"the tmux server is gone: {said}")
    if "too long" in said or "failed to send command" in said:
        raise TooLarge(f"tmux takes no more than 16 KiB of arguments at once: {said}")
    error = said or f"tmux ended with exit code {client.returncode}"
    return Output(client.stdout.removesuffix("\n"), error)
