"""The one question that a verb asks: whether a repository's setup may run."""

from __future__ import annotations

import sys

import typer

from fan.errors import NeedsApproval
from fan.render import output


def agreed(refusal: NeedsApproval) -> bool:
    """Whether a person at a terminal says yes to what is shown; False without one."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    output.aside("This repository asks for a setup in each worktree, before its agent starts:")
    for line in refusal.lines:
        output.aside(f"  {line}")
    return typer.confirm("Approve it, as it is now?", default=False, err=True)
