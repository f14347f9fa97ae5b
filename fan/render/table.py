"""Rows as a table for a terminal."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from fan.core.model import Row, State
from fan.core.plain import one_line
from fan.render.cells import by_group, cells, repo_name
from fan.render.fitting import fitted

COLUMNS = ("branch", "agent", "state", "turn", "prompt", "work", "session", "id")
WHOLE = frozenset({"branch", "agent", "turn", "session", "id"})
SPARE = ("session", "id", "turn", "work", "agent")
"""What goes where there is no room, the least needed first: branch, state and prompt stay."""
WIDE = 140
"""Columns from which on there is room for the session; branch and id name the member as well."""
INDENT = 4
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


def drawn(what: RenderableType) -> str:
    """`what` as text for standard output, with colour where it may have some."""
    console = Console(
        file=io.StringIO(), force_terminal=True, width=_columns(), no_color=bool(os.environ.get("NO_COLOR"))
    )
    with console.capture() as captured:
        console.print(what)
    return captured.get()


def cut(what: RenderableType, console: Console, note: str) -> RenderableType:
    """`what`, or as much of it as the console has lines for and then `note`."""
    found = console.render_lines(what, pad=False)
    if len(found) <= console.height:
        return what
    above = [Segments([*line, Segment.line()]) for line in found[: max(0, console.height - 1)]]
    return Group(*above, Text(note, style="bold yellow", no_wrap=True, overflow="ellipsis"))


def state_style(row: Row) -> str:
    """The colour of a row's state; empty for none."""
    return next((colour for state, colour in COLOURS.items() if row.state == state), "")


def laid_out(
    head: Sequence[str],
    rows: Sequence[Sequence[Text]],
    *,
    whole: Collection[str],
    spare: Sequence[str],
    indent: int = 0,
) -> RenderableType:
    """A table of what fits the terminal, as `fitted` says; where nothing does, a line a row that is wrapped."""
    room = _columns() - indent
    widths = fitted(head, [[cell.plain for cell in row] for row in rows], room, whole=whole, spare=spare)
    if not widths:
        return Group(*(Padding(Text("  ").join(row), (0, 0, 0, indent)) for row in (map(Text, head), *rows)))
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim", pad_edge=False)
    for name, width in widths.items():
        table.add_column(name, width=width, overflow="fold", no_wrap=name in whole)
    for row in rows:
        table.add_row(*(cell for name, cell in zip(head, row, strict=True) if name in widths))
    return Padding.indent(table, indent)


def _columns() -> int:
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80


def grouped(found: Sequence[Row], now: float) -> Group:
    """The rows as something that rich draws."""
    parts: list[RenderableType] = []
    shown = ""
    for repo, group, members in by_group(found):
        if repo != shown:
            parts.append(Text(f"{repo_name(repo)}  {one_line(repo)}", style="bold"))
            shown = repo
        parts.append(Text(f"  {one_line(group)}" if group else "  worktrees outside of groups", style="dim"))
        parts.append(_table(members, now))
    return Group(*parts)


def _table(members: Sequence[Row], now: float) -> RenderableType:
    head = [column for column in COLUMNS if column != "session" or _columns() >= WIDE]
    rows = []
    for row in members:
        texts = {column: Text(cell) for column, cell in zip(COLUMNS, cells(row, now), strict=True)}
        texts["state"].stylize(state_style(row))
        rows.append([texts[column] for column in head])
    return laid_out(head, rows, whole=WHOLE, spare=SPARE, indent=INDENT)
