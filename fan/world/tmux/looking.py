"""Looks at many panes for little: a screen is captured again only when its pane has printed since."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence

from msgspec import Struct

from fan.core import screen
from fan.core.model import Line, Look
from fan.world.tmux import server
from fan.world.tmux.fields import Fields, Row
from fan.world.tmux.quoting import Command
from fan.world.tmux.transport import NoServer, Transport

# tmux tells the time of a pane's last output in whole seconds.
_SETTLED_SECONDS = 2


def is_missing(error: str) -> bool:
    """Whether tmux's words say that the target is not there."""
    return bool(error) and re.search(r"can't find (pane|session|window)|no current target", error) is not None


def _among(pane_ids: Iterable[str]) -> str:
    """True for these panes: describing one takes tmux far longer than passing it over."""
    return f"#{{m:*<#{{pane_id}}>*,{''.join(f'<{pane_id}>' for pane_id in pane_ids)}}}"


def collect(transport: Transport, rows: Iterable[Row]) -> None:
    """Have tmux collect the exit status of programs whose end it missed; a later look then shows it."""
    # Each new pane makes it deaf to ends for some milliseconds (libutempter), until the next one.
    if any(row.pane.dead and row.pane.exit_status is None for row in rows):
        transport.run([("run-shell", "-b", ":")])


class _Kept(Struct, frozen=True):
    row: Row
    settled: bool
    lines: tuple[Line, ...]


class Looker:
    """Remembers the screens of one server's panes."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._kept: dict[str, _Kept] = {}

    def looks(self, transport: Transport, pane_ids: Sequence[str], at: float) -> dict[str, Look]:
        """The panes' visible screens; a pane that is not there, or has no server, is absent."""
        asked = list(dict.fromkeys(pane_ids))
        now = time.time()
        restless = [pane_id for pane_id in asked if not self._settled(pane_id)]
        rows, fresh = self._captured(transport, asked, restless)
        while due := [pane_id for pane_id in rows if pane_id not in fresh and self._stale(rows[pane_id])]:
            # Also those behind a pane that vanished: it may have ended the chain.
            again, more = self._captured(transport, due, due)
            rows = {pane_id: row for pane_id, row in rows.items() if pane_id not in due} | again
            fresh |= more
        collect(transport, rows.values())
        self._keep(asked, rows, fresh | self._whole(transport, rows, fresh), now)
        return {pane_id: Look(row.pane, self._kept[pane_id].lines, at) for pane_id, row in rows.items()}

    def _settled(self, pane_id: str) -> bool:
        kept = self._kept.get(pane_id)
        return kept is not None and kept.settled

    def _stale(self, row: Row) -> bool:
        kept = self._kept.get(row.pane.id)
        return kept is None or not kept.settled or not row.same_screen(kept.row)

    def _keep(self, asked: Sequence[str], rows: dict[str, Row], fresh: dict[str, str], now: float) -> None:
        for pane_id in asked:
            if pane_id not in rows:
                self._kept.pop(pane_id, None)
        for pane_id, text in fresh.items():
            if row := rows.get(pane_id):
                settled = now >= row.activity + _SETTLED_SECONDS
                self._kept[pane_id] = _Kept(row, settled, screen.parse(text))

    def _whole(self, transport: Transport, rows: dict[str, Row], fresh: dict[str, str]) -> dict[str, str]:
        # tmux's note of the exit has pushed the first line of a dead pane's screen out.
        dead = [pane_id for pane_id, row in rows.items() if row.pane.dead and pane_id in fresh]
        return self._captured(transport, dead, dead, "-S", "-1")[1] if dead else {}

    def _captured(
        self, transport: Transport, asked: Sequence[str], due: Sequence[str], *lines: str
    ) -> tuple[dict[str, Row], dict[str, str]]:
        """The asked panes that are there, and the text of those due as far as it was captured."""
        which = ("-t", asked[0]) if len(asked) == 1 else ("-a", "-f", _among(asked))
        captures: list[Command] = [("capture-pane", "-p", "-e", *lines, "-t", pane_id) for pane_id in due]
        try:
            listed, *captured = transport.run([("list-panes", *which, "-F", self._fields.format), *captures])
        except NoServer:
            return {}, {}
        if is_missing(listed.error):
            return {}, {}
        known = {row.pane.id: row for row in self._fields.rows(server.succeeded(listed).text)}
        rows = {pane_id: known[pane_id] for pane_id in asked if pane_id in known}
        texts: dict[str, str] = {}
        for pane_id, output in zip(due, captured, strict=True):
            if is_missing(output.error):
                rows.pop(pane_id, None)
            elif output.ran:
                texts[pane_id] = f"{server.succeeded(output).text}\n"
        return rows, texts
