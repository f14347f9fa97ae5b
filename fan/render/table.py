"""Rows as a table for a terminal."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from fan.core.model import Row, State
from fan.core.plain import one_line
from fan.render.cells import by_group, cells, repo_name

COLUMNS = ("branch", "agent", "state", "turn", "prompt", "work", "session", "id")
UNBROKEN = frozenset({"branch", "agent", "turn", "id"})
WIDE = 140
"""Columns from which on there is room for the session; branch and id name the member as well."""
COLOURS = {
    State.NEEDS_INPUT: "bold yellow",
    State.WORKING: "cyan",
    State.REST: "green",
    State.LIMITED: "yellow",
    State.ERRORED: "red",
    State.EXITED: "red",
}


def rows(found: Sequence[Row], now: float) -> str:
    """The rows below a line for their repository and group."""
    return drawn(grouped(found, now))


def drawn(what: Group | Table) -> str:
    """`what` as text for standard output, with colour where it may have some."""
    console = Console(
        file=io.StringIO(), force_terminal=True, width=_columns(), no_color=bool(os.environ.get("NO_COLOR"))
    )
    with console.capture() as captured:
        console.print(what)
    return captured.get()


def state_style(row: Row) -> str:
    """The colour of a row's state; empty for none."""
    return next((colour for state, colour in COLOURS.items() if row.state == state), "")


def _columns() -> int:
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80


def grouped(found: Sequence[Row], now: float) -> Group:
    """The rows as something that rich draws."""
    parts: list[Text | Table] = []
    shown = ""
    for repo, group, members in by_group(found):
        if repo != shown:
            parts.append(Text(f"{repo_name(repo)}  {one_line(repo)}", style="bold"))
            shown = repo
        parts.append(Text(f"  {one_line(group)}" if group else "  worktrees outside of groups", style="dim"))
        parts.append(_table(members, now))
    return Group(*parts)


def _table(members: Sequence[Row], now: float) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim", pad_edge=False)
    table.add_column("  ", width=2)
    shown = [column for column in COLUMNS if column != "session" or _columns() >= WIDE]
    for column in shown:
        table.add_column(column, overflow="fold", no_wrap=column in UNBROKEN)
    for row in members:
        texts = {column: Text(cell) for column, cell in zip(COLUMNS, cells(row, now), strict=True)}
        texts["state"].stylize(state_style(row))
        table.add_row(Text(""), *(texts[column] for column in shown))
    return table
