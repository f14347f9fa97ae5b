"""A row's fields as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from fan.core.naming import natural
from fan.core.plain import one_line
from fan.core.secrets import quoted

if TYPE_CHECKING:
    from fan.core.model import Row

NOTHING = "-"
LONGEST = 120
"""What is shown of an agent's words in a row; `fan why` and `--json` have them whole."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def age(since: float | None, now: float) -> str:
    """How long ago, in the largest whole unit: `8s`, `5m`, `3h`, `2d`."""
    if since is None:
        return ""
    seconds = max(0, int(now - since))
    return next((f"{seconds // size}{unit}" for size, unit in _UNITS if seconds >= size), "0s")


def state(row: Row, now: float) -> str:
    """The state, what it waits for, and since when."""
    if not row.state:
        return one_line(row.detail) or NOTHING
    detail = "" if row.detail == row.prompt_note else _told(row, row.detail)
    about = ", ".join(part for part in (row.kind, detail or ("gone" if row.gone else "")) if part)
    words = [row.state, f"({about})" if about else "", age(row.since, now)]
    return one_line(" ".join(word for word in words if word))


def prompt(row: Row) -> str:
    """Where the prompt stands, with its note."""
    status = row.prompt_status.replace("_", " ")
    return one_line(": ".join(part for part in (status, _told(row, row.prompt_note)) if part)) or NOTHING


def _told(row: Row, text: str) -> str:
    """`text` as it is, unless an agent had a say in it."""
    if not row.untrusted:
        return text
    words = quoted(text)
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."


def work(row: Row) -> str:
    """Changed files and commits of its own; `-` where they were not looked at."""
    counts = ((row.changes, "changed"), (row.ahead, "ahead"))
    told = [f"{count} {word}" for count, word in counts if count]
    if told:
        return ", ".join(told)
    return NOTHING if row.changes is None and row.ahead is None else "none"


def cells(row: Row, now: float) -> tuple[str, ...]:
    """Branch, agent, state, turn, prompt, work, session and id, each on one line and never empty."""
    turn = "" if row.turn == "none" else row.turn
    branch = row.branch or PurePath(row.path).name
    plain = (one_line(branch), row.agent, state(row, now), turn, prompt(row), work(row), row.session, row.id)
    return tuple(cell or NOTHING for cell in plain)


def in_order(rows: Sequence[Row]) -> list[Row]:
    """By repository, then group, then branch; numbers count as numbers, the hand-made come last."""
    return sorted(
        rows, key=lambda row: (row.repo, not row.managed, not row.group, natural(row.group), natural(row.branch))
    )


def by_group(rows: Sequence[Row]) -> list[tuple[str, str, list[Row]]]:
    """Repository, group, rows of it, in order."""
    grouped = groupby(in_order(rows), key=lambda row: (row.repo, row.group))
    return [(repo, group, list(members)) for (repo, group), members in grouped]


def repo_name(repo: str) -> str:
    """A repository's folder name."""
    return one_line(PurePath(repo).name or repo)
