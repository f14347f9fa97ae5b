"""Tables as terminals of several widths show them."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from rich.console import Console
from rich.live import Live

from fan.core.compare import Tokens, Verdict
from fan.render import cells, compare, table
from fan.render.fitting import LONGEST
from fan.render.live import Lines
from fan.verbs.compare import Candidate, Compared
from fan.verbs.verify import Checked, Verified
from tests.e2e.test_cli_render import NOW, PLAIN

STEM = "fan/add-retry-backoff-http"
NOTE = "waits: it asks whether you trust the folder"
WIDTHS = (40, 80, 100, 140, 200)
ROWS = [
    replace(PLAIN, branch=STEM, state="needs_input", kind="permission", detail="Bash(git push)", ahead=3),
    replace(PLAIN, branch=f"{STEM}-10", prompt_status="pending", prompt_note=NOTE, session="api-fan-add-retry-10"),
    replace(PLAIN, branch="main", managed=False, group="", state="", detail="the main checkout", id="", agent=""),
]
PASSED = Verdict("passed", stale=True, command="make", exit_code=0, at=NOW, seconds=1, commit="", tree="", output="")
CANDIDATES = [
    Candidate("ab", 1, STEM, "demo", "needs_input", "done", commits=3, uncommitted=12, added=1234, removed=5),
    Candidate(
        *("ac", 2, f"{STEM}-2", "demo:option", "working", "running"),
        commits=0,
        uncommitted=1,
        added=1,
        removed=0,
        verify=PASSED,
        tokens=Tokens(1, 2, 3),
    ),
]
CHECKED = [
    Checked("ab", STEM, STEM, "passed", 0, 1.5, "c" * 40, "d" * 40, output="/state/checks/ab/1.log"),
    Checked("ac", f"{STEM}-2", STEM, "broken_off", None, 300.0, "c" * 40, "d" * 40),
]
TABLES: dict[str, Callable[[], str]] = {
    "ls": lambda: table.rows(ROWS, NOW),
    "compare": lambda: compare.compared(Compared(STEM, "/src/api", "main", CANDIDATES, {})),
    "verify": lambda: compare.verified(Verified("make", CHECKED)),
}


def drawn(verb: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", TABLES[verb]())


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("verb", TABLES)
def test_no_word_is_broken_for_want_of_room(verb: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word stands there whole and no line is too long. Red when a column may be narrower than its words."""
    monkeypatch.setattr(table, "_columns", lambda: 2000)
    whole = set(drawn(verb).split())
    assert max(map(len, whole)) <= LONGEST + 6
    monkeypatch.setattr(table, "_columns", lambda: columns)
    text = drawn(verb)
    assert set(text.split()) <= whole
    assert max(len(line.rstrip()) for line in text.splitlines()) <= columns


@pytest.mark.parametrize(
    ("verb", "columns", "shown"),
    [
        ("ls", 80, "branch agent state prompt work"),
        ("ls", 200, "branch agent state turn prompt work session id"),
        ("compare", 80, "n branch files lines uncommitted check time"),
        ("compare", 200, "n branch agent state files lines commits uncommitted shared check time tokens"),
        ("verify", 80, "branch result time output"),
    ],
)
def test_the_least_needed_columns_go_first(
    verb: str, columns: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 columns what can be done without is left out whole, at 200 all is there."""
    monkeypatch.setattr(table, "_columns", lambda: columns)
    assert shown in [" ".join(line.split()) for line in drawn(verb).splitlines()]


def test_a_very_narrow_terminal_gets_a_line_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not even the indispensable columns fit, no cell is lost: the terminal wraps the plain line."""
    monkeypatch.setattr(table, "_columns", lambda: 40)
    words = drawn("ls").split()
    assert all(set(" ".join(cells.cells(row, NOW)[:6]).split()) <= set(words) for row in ROWS[:2])


def _console(columns: int, rows: int) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, color_system=None, width=columns, height=rows)


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_short_window_says_that_there_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fan ls --watch` does not cut members off silently. Red when what does not fit is just not there."""
    monkeypatch.setattr(table, "_columns", lambda: 100)
    group = table.grouped([replace(PLAIN, branch=f"fan/x-{n}") for n in range(20)], NOW)
    for height, told in ((10, True), (23, False)):
        console = _console(100, height)
        console.print(table.cut(group, console, "2 members ask"))
        shown = _text(console).splitlines()
        assert len(shown) <= height
        assert (shown[-1] == "2 members ask") is told


def test_live_progress_is_one_line_a_member() -> None:
    """A long note is cut at the window's edge. Red when it wraps."""
    console = _console(60, 20)
    with Live(console=console, auto_refresh=False) as drawing:
        Lines(drawing).rows(ROWS[1:2])
    told = [line.split("\x1b[2K")[-1] for line in _text(console).splitlines() if "rest" in line or "folder" in line]
    assert told
    assert all(f"{STEM}-10" in line for line in told)
