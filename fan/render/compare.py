"""Members side by side, differences, and how checks ended."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.fence import fenced
from fan.core.plain import one_line, visible
from fan.render import output
from fan.render.cells import NOTHING
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.core.compare import Tokens, Verdict
    from fan.verbs.compare import Candidate, Compared
    from fan.verbs.diff import Diff
    from fan.verbs.verify import Checked, Verified

HEAD = (
    "n",
    "branch",
    "agent",
    "state",
    "files",
    "lines",
    "commits",
    "uncommitted",
    "shared",
    "check",
    "time",
    "tokens",
)
CHECKS = ("branch", "result", "time", "on", "output")
WHOLE = frozenset({"n", "branch", "lines"})
SPARE = ("shared", "tokens", "on", "state", "time", "agent", "commits", "uncommitted")
"""What goes where there is no room, the least needed first: n, branch, files, lines and check stay."""
SHOWN = 20
_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m", "d": "\x1b[1m"}
_PLAIN = "\x1b[0m"


def compared(what: Compared) -> str:
    """A row a member, then the files that several touch; notes and problems beside it."""
    for one in what.members:
        for note in filter(None, (*one.notes, one.problem)):
            output.aside(f"{'warning: ' if one.problem == note else ''}{one_line(one.branch)}: {visible(note)}")
    names = {one.id: one.branch for one in what.members}
    title = f"{one_line(what.group)}, from {one_line(what.base)}\n"
    return title + _table(HEAD, [_candidate(one) for one in what.members]) + _overlap(what, names)


def verified(what: Verified) -> str:
    """A row a member, then the last lines of each check that did not pass."""
    for one in what.members:
        if one.note:
            output.aside(f"warning: {one_line(one.branch)}: {visible(one.note)}")
        if one.changed:
            names = ", ".join(map(one_line, one.changed[:5])) + (", ..." if len(one.changed) > 5 else "")
            output.aside(f"warning: {one_line(one.branch)}: stale at once, it changed while the check ran: {names}")
    title = f"{one_line(what.command)}\n"
    return title + _table(CHECKS, [_checked(one) for one in what.members]) + "".join(map(_lines, what.members))


def show_diff(what: Diff, *, as_json: bool) -> int:
    """Print a difference: its bytes as they are, on a terminal with what that would obey made visible."""
    if as_json:
        from fan.render.values import as_json as written

        output.result(written(what))
        return 0
    for note in what.notes:
        output.aside(visible(note))
    if sys.stdout.isatty():
        text = visible(what.text.decode("utf-8", "surrogateescape"))
        output.result(text if not output.is_terminal(sys.stdout) or os.environ.get("NO_COLOR") else _coloured(text))
    else:
        output.raw(what.text)
    return 0


def _coloured(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(f"{colour}{line}{_PLAIN}" if (colour := _COLOURS.get(line[0])) else line for line in lines)


def _candidate(one: Candidate) -> tuple[str, ...]:
    if one.problem:
        counts = ("?", "?", "?", "?")
    else:
        lines = f"+{one.added} -{one.removed}"
        counts = (str(len(one.files)), lines, str(one.commits), str(one.uncommitted))
    shared = str(len(one.shared)) if not one.problem else "?"
    return (str(one.n), one_line(one.branch), one.agent, one.state, *counts, shared,
            _verdict(one.verify), _time(one.seconds), _tokens(one.tokens))  # fmt: skip


def _verdict(one: Verdict | None) -> str:
    if one is None:
        return NOTHING
    return f"{_result(one.status, one.exit_code)}{', stale' if one.stale else ''}"


def _result(status: str, code: int | None) -> str:
    return f"{status.replace('_', ' ')} ({code})" if code else status.replace("_", " ")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes else f"{seconds:.1f}s"


def _tokens(one: Tokens | None) -> str:
    if one is None:
        return NOTHING
    cached = f" (+{_count(one.cached)} cached)" if one.cached else ""
    return f"{_count(one.input)}{cached} in, {_count(one.output)} out"


def _count(number: int) -> str:
    return str(number) if number < 10_000 else f"{number / 1000:.0f}k"


def _overlap(what: Compared, names: dict[str, str]) -> str:
    if not what.overlap:
        return ""
    rows = [(one_line(path), ", ".join(one_line(names[one]) for one in ids)) for path, ids in what.overlap.items()]
    more = f"  and {len(rows) - SHOWN} more\n" if len(rows) > SHOWN else ""
    return f"\ntouched by several:\n{aligned([('', *row) for row in rows[:SHOWN]])}{more}"


def _checked(one: Checked) -> tuple[str, ...]:
    on = f"{one.commit[:10] or 'no commit'} {one.tree[:10]}" if one.tree else NOTHING
    result = _result(one.status, one.exit_code)
    return one_line(one.branch), result, _time(one.seconds), on, one_line(one.output) or NOTHING


def _lines(one: Checked) -> str:
    if not one.lines:
        return ""
    return "\n" + fenced("\n".join(one.lines), f"the check of {one.branch}", secrets.token_hex(4))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not output.is_terminal(sys.stdout):
        return aligned([head, *rows])
    from rich.text import Text

    from fan.render.table import drawn, laid_out

    styled = [[Text(cell, style=_style(cell)) for cell in row] for row in rows]
    return drawn(laid_out(head, styled, whole=WHOLE, spare=SPARE))


def _style(cell: str) -> str:
    if "stale" in cell:
        return "yellow"
    return "green" if cell == "passed" else "red" if cell.startswith(("failed", "broken off", "not run")) else ""
