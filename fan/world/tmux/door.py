"""The class through which the rest of fan sees tmux."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from fan.core.model import Look, Pane
from fan.errors import DiskFailed, UsageError
from fan.world.tmux import launch as launching
from fan.world.tmux import options, server, terminals
from fan.world.tmux.fields import OURS, Fields
from fan.world.tmux.looking import Looker, collect, is_missing
from fan.world.tmux.quoting import Command, line, literal, session_name
from fan.world.tmux.transport import NoServer, Output, ProcessTransport, Transport, client_command
from fan.world.tmux.turns import turn

Outcome = Literal["done", "dead", "mode", "gone"]

COURIER_SESSION = "fan-courier"

_KEY = (
    r"(?:[CMS]-)*(?:Enter|Escape|Tab|BTab|Up|Down|Left|Right|Space|BSpace|Home|End|PageUp|PageDown|DC|IC"
    r"|F\d{1,2}|\S)"
)


class Tmux:
    """One tmux server, by its socket. Targets are ids. Every call may raise TmuxFailed, ToolMissing."""

    def __init__(self, socket: Path, environ: Mapping[str, str], transport: Transport | None = None) -> None:
        server.check_socket(socket)
        self.socket = socket
        self.environ = environ
        self.process = ProcessTransport(socket, environ)
        self.transport = transport or self.process
        self._fields = Fields(os.urandom(5).hex())
        self._looker = Looker(self._fields)

    def version(self) -> tuple[int, int]:
        """The version on PATH. Raises ToolMissing when there is none or it is below 3.2."""
        return server.version(self.environ)

    def watch(self) -> Tmux:
        """The same server over one lasting connection through the courier's session. Raises NoServer.

        Once a call over it has raised, close it and make another.
        """
        from fan.world.tmux.control import ControlTransport

        with turn(self.socket, connecting=True):
            control = ControlTransport(self.socket, self.environ, COURIER_SESSION)
        return Tmux(self.socket, self.environ, control)

    def close(self) -> None:
        """Let go of the connection; the server goes on."""
        self.transport.close()

    def panes(self) -> list[Pane]:
        """The agents' panes, one a member's session; none when there is no server."""
        output = self._unless_missing(("list-panes", "-a", "-f", OURS, "-F", self._fields.format))
        rows = [] if output is None else self._fields.rows(output.text)
        collect(self.transport, rows)
        return [row.pane for row in rows]

    def pane_of(self, launch: str) -> Pane | None:
        """The pane of this launch of a member's agent; None when it is gone."""
        return next((pane for pane in self.panes() if pane.launch == launch), None)

    def looks(self, pane_ids: Sequence[str], at: float) -> dict[str, Look]:
        """The panes' visible screens; a pane that is not there, or has no server, is absent.

        A dead pane has one line more, above its screen, which the note of its exit has pushed out.
        """
        return self._looker.looks(self.transport, pane_ids, at)

    def history(self, pane_id: str, lines: int, before: int | None = None) -> list[str]:
        """What a pane has printed: the last so many lines above its screen, and its screen, or of that what stands
        before this row. Long lines are whole. Empty when there is no such pane.
        """
        end = () if before is None else ("-E", str(before - 1))
        output = self._unless_missing(("capture-pane", "-p", "-J", "-S", f"-{lines}", *end, "-t", pane_id))
        return [] if output is None else [row.rstrip() for row in output.text.split("\n")]

    def server_pid(self) -> int:
        """The server's process; 0 when there is none."""
        output = self._unless_missing(("display-message", "-p", "#{pid}"))
        return int(output.text) if output and output.text.isdigit() else 0

    def open_session(
        self,
        name: str,
        cwd: Path,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        member: str,
        launch: str,
        group: str,
        held: Path | None = None,
    ) -> Pane:
        """A detached session whose pane's process becomes `argv` with exactly `env`; the pane outlives it.

        With `held`, a fifo that is made here, the program starts only at `release`. Characters that
        a session's name cannot hold become `-`. Raises AlreadyExists, TooLarge, DiskFailed.
        """
        own = session_name(name)
        carried = launching.environment(env)
        chain = [
            *launching.creation(own, cwd, launching.wrapped(argv, env, held), sorted(carried)),
            *launching.marks(own, {"member": member, "launch": launch, "group": group}),
            ("list-panes", "-t", f"={own}:", "-F", self._fields.format),
        ]
        with _fifo(held), turn(self.socket):
            made = server.create(self.process, own, chain, carried)
        return self._fields.rows(made.text)[0].pane

    def release(self, held: Path) -> bool:
        """Let the program held at this fifo start; False when nothing waits there."""
        try:
            fifo = os.open(held, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        with open(fifo, "wb", buffering=0) as pipe:  # noqa: PTH123
            pipe.write(b"go\n")
        held.unlink(missing_ok=True)
        return True

    def start_courier(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Run `argv` as the session `fan-courier`, which ends with it. Raises AlreadyExists, TooLarge."""
        carried = launching.environment(env)
        chain = [
            *launching.creation(COURIER_SESSION, Path("/"), launching.wrapped(argv, env, None), sorted(carried)),
            ("set-option", "-w", "-t", f"={COURIER_SESSION}:", "remain-on-exit", "off"),
        ]
        with turn(self.socket):
            server.create(self.process, COURIER_SESSION, chain, carried)

    def end_session(self, session_id: str) -> None:
        """End a session and hang up on its processes; one that is gone already is fine."""
        with turn(self.socket):
            self._unless_missing(("kill-session", "-t", session_id))

    def load(self, buffer: str, text: str) -> None:
        """Put `text`, byte for byte, into the paste buffer of this name. Raises DiskFailed, NoServer."""
        import tempfile

        # A file carries any size over either transport, and no argument list shows it.
        try:
            with tempfile.NamedTemporaryFile(dir=self.socket.parent, prefix="paste-") as file:
                file.write(text.encode(errors="surrogateescape"))
                file.flush()
                self._succeed(("load-buffer", "-b", buffer, literal(file.name)))
        except OSError as error:
            raise DiskFailed(
                f"the text to type could not be written: {error}", not_done="nothing was typed"
            ) from error

    def buffers(self) -> set[str]:
        """The names of the server's paste buffers; none when there is no server."""
        output = self._unless_missing(("list-buffers", "-F", "#{buffer_name}"))
        return set() if output is None else set(output.text.splitlines())

    def drop_buffer(self, buffer: str) -> None:
        """Delete a paste buffer; one that is gone already is fine."""
        if buffer in self.buffers():
            with contextlib.suppress(NoServer):
                self.transport.run([("delete-buffer", "-b", buffer)])

    def paste(self, pane: str, buffer: str) -> Outcome:
        """Paste a buffer, in brackets where the program asked for them, unless pane is dead or in copy mode.

        The buffer is deleted exactly when it was pasted. Raises NoServer.
        """
        return self._type(pane, ("paste-buffer", "-d", "-p", "-r", "-b", buffer, "-t", pane))

    def press(self, pane: str, key: str) -> Outcome:
        """Press one key by tmux's name for it, under the conditions of `paste`. Raises UsageError."""
        if not re.fullmatch(_KEY, key):
            raise UsageError(f"{key!r} is not the name of a key", not_done="nothing was typed")
        return self._type(pane, ("send-keys", "-t", pane, "--", key))

    def badge(self, count: int) -> None:
        """Show in every session how many things wait for the person; not without a server."""
        self._unless_missing(options.badge(count))

    def ring_clients(self) -> None:
        """Ring the bell of every terminal that shows a session of ours."""
        listed = self._unless_missing(terminals.TERMINALS)
        for terminal in listed.text.split() if listed else ():
            terminals.ring(terminal)

    def attach_argv(self, session_id: str) -> list[str]:
        """What a person's terminal runs to see a session."""
        return [*client_command(self.socket, self.environ), "attach-session", "-E", "-t", session_id]

    def _type(self, pane: str, command: Command) -> Outcome:
        # One command: between a look and the keys the pane may die, and a paste into it kills the server.
        blocked = ("display-message", "-p", "-t", pane, "#{?pane_dead,dead,mode}")
        typed = f"{line(command)} ; display-message -p done"
        guard = ("if-shell", "-F", "-t", pane, "#{||:#{pane_dead},#{pane_in_mode}}", line(blocked), typed)
        output = self._unless_missing(guard)
        return "gone" if output is None else cast("Outcome", output.text)

    def _succeed(self, command: Command) -> Output:
        (output,) = self.transport.run([command])
        return server.succeeded(output)

    def _unless_missing(self, command: Command) -> Output | None:
        try:
            (output,) = self.transport.run([command])
        except NoServer:
            return None
        return None if is_missing(output.error) else server.succeeded(output)


@contextlib.contextmanager
def _fifo(path: Path | None) -> Iterator[None]:
    """A fifo for who waits at it, taken away again when that fails to start."""
    if path is None:
        yield
        return
    try:
        os.mkfifo(path, 0o600)
    except OSError as error:
        raise DiskFailed(f"{path}, where the agent would wait, cannot be made: {error}") from error
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise
