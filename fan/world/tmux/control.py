"""One lasting connection to a tmux server, for whoever looks often."""

from __future__ import annotations

import os
import selectors
import socket as sockets
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fan.errors import TmuxFailed
from fan.world.tmux import quoting
from fan.world.tmux.quoting import Command
from fan.world.tmux.transport import (
    LIMIT_SECONDS,
    NoServer,
    Output,
    client_command,
    client_environment,
)

_CHUNK = 1 << 16


class ControlTransport:
    """A control client of the session `through`; it takes part in no size and receives no output.

    Once a call has raised, the connection is over: make another. Raises NoServer, TmuxFailed.
    """

    def __init__(self, socket: Path, environ: Mapping[str, str], through: str) -> None:
        self.socket = socket
        self._blocks = _Blocks()
        self._token = os.urandom(6).hex()
        self._runs = 0
        flags = ("-f", "no-output,ignore-size")
        begin = client_command(socket, environ)
        # In our own session, so that it is hung up on with us: a client whose reader was killed is
        # never let go by tmux, and keeps the server from ending.
        self._client = subprocess.Popen(
            [*begin, "-C", "attach-session", "-E", "-t", f"={through}", *flags],
            env=client_environment(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        assert self._client.stdin is not None
        assert self._client.stdout is not None
        self._to, self._from = self._client.stdin.fileno(), self._client.stdout.fileno()
        for descriptor in (self._to, self._from):
            os.set_blocking(descriptor, False)
        self._attached()

    def run(self, commands: Sequence[Command]) -> list[Output]:
        """Run in order; a failed command does not stop those after it."""
        if self._closed:
            raise self._ended()
        self._runs += 1
        marks = [f"{self._token}.{self._runs}.{n}" for n in range(len(commands) + 1)]
        # A mark before each command and after the last: a screen may show anything, but not these.
        steps: list[str] = []
        for mark, command in zip(marks, [*commands, None], strict=True):
            steps.append(quoting.line(("display-message", "-p", mark)))
            if command is not None:
                steps.append(quoting.line(command))
        replies = self._exchange("\n".join([*steps, ""]).encode(errors="surrogateescape"), marks[-1])
        return _sorted(replies, marks)

    def close(self) -> None:
        """End the client; its session and the server go on."""
        for pipe in (self._client.stdin, self._client.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._client.wait(1)
        except subprocess.TimeoutExpired:
            self._client.kill()
            self._client.wait()

    def _attached(self) -> None:
        # Our lines may be answered before the client has its session, or has been refused one.
        while "session-changed" not in self._blocks.noted:
            self._exchange(f"display-message -p {self._token}\n".encode(), self._token)
        self._blocks.noted.clear()

    @property
    def _closed(self) -> bool:
        return self._client.stdin is None or self._client.stdin.closed

    def _exchange(self, request: bytes, last: str) -> list[Output]:
        until = time.monotonic() + LIMIT_SECONDS
        replies: list[Output] = []
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            selector.register(self._to, selectors.EVENT_WRITE)
            while not (replies and replies[-1].text == last):
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready:
                    self.close()
                    raise TmuxFailed(f"tmux did not answer within {LIMIT_SECONDS:.0f} s", hint="fan doctor")
                for key, _ in ready:
                    if key.fd == self._from:
                        replies.extend(self._read())
                        continue
                    request = self._write(request)
                    if not request:
                        selector.unregister(self._to)
        return replies

    def _write(self, request: bytes) -> bytes:
        try:
            return request[os.write(self._to, request) :]
        except BlockingIOError:
            return request
        except OSError as error:
            raise self._ended() from error

    def _read(self) -> list[Output]:
        chunk = os.read(self._from, _CHUNK)
        if not chunk:
            raise self._ended()
        return self._blocks.feed(chunk)

    def _ended(self) -> TmuxFailed | NoServer:
        said = self._blocks.refused or self._blocks.stray
        self.close()
        if not _listening(self.socket):
            return NoServer(f"the tmux server is gone: {said or 'the connection ended'}")
        return TmuxFailed(f"tmux ended the connection: {said or 'without a word'}", hint="fan doctor")


class _Blocks:
    """Cuts what a control client prints into replies; what else it tells is noted."""

    def __init__(self) -> None:
        self.noted: set[str] = set()
        self.refused = ""
        self.stray = ""
        self._pending = b""
        self._ids = b""

    def feed(self, chunk: bytes) -> list[Output]:
        """The replies that `chunk` completes."""
        self._pending += chunk
        replies: list[Output] = []
        while True:
            if not self._ids:
                if not self._between():
                    return replies
                continue
            asked = self._ids.endswith(b" 1")
            reply = self._reply()
            if reply is None:
                return replies
            if asked:
                replies.append(reply)
            else:
                # Not from our lines: the client's own attaching, or a hook that ran beside them.
                self.refused = self.refused or reply.error

    def _between(self) -> bool:
        head, newline, rest = self._pending.partition(b"\n")
        if not newline:
            return False
        self._pending = rest
        if head.startswith(b"%begin "):
            self._ids = head.removeprefix(b"%begin ")
        elif head.startswith(b"%"):
            self.noted.add(head[1:].split(b" ", 1)[0].decode(errors="replace"))
        if not head.startswith(b"%") or head.startswith(b"%exit "):
            self.stray = head.removeprefix(b"%exit ").decode(errors="replace")
        return True

    def _reply(self) -> Output | None:
        # The same numbers as in %begin close a block; other lines of this form are text.
        for word in (b"%end ", b"%error "):
            closing = word + self._ids + b"\n"
            at = 0 if self._pending.startswith(closing) else self._pending.find(b"\n" + closing) + 1
            if at or self._pending.startswith(closing):
                text = self._pending[:at].removesuffix(b"\n").decode(errors="replace")
                self._pending, self._ids = self._pending[at + len(closing) :], b""
                return Output(text) if word == b"%end " else Output(error=text or "tmux refused")
        return None


def _sorted(replies: Sequence[Output], marks: Sequence[str]) -> list[Output]:
    """One Output a command; a command that runs others gives several replies."""
    found: list[list[Output]] = []
    for reply in replies:
        if len(found) < len(marks) and reply.text == marks[len(found)]:
            found.append([])
        elif found:
            found[-1].append(reply)
    if len(found) != len(marks):
        raise TmuxFailed("tmux gave half an answer", hint="fan doctor")
    return [_joined(own) for own in found[:-1]]


def _joined(replies: Sequence[Output]) -> Output:
    error = next((reply.error for reply in replies if reply.error), "")
    if len(replies) == 1:
        return replies[0]
    return Output("\n".join(reply.text for reply in replies if reply.text), error)


def _listening(socket: Path) -> bool:
    with sockets.socket(sockets.AF_UNIX) as probe:
        try:
            probe.connect(str(socket))
        except OSError:
            return False
    return True
