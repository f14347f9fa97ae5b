"""Settings and checks as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fan.core.plain import one_line
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.approval import Approval
    from fan.verbs.config import Configuration
    from fan.verbs.doctor import Check, Diagnosis


def configuration(what: Configuration) -> str:
    """Each setting with its value and origin, the file that can change them and the folders, then the setup."""
    settings = [(one.name, str(one.value), one_line(one.origin)) for one in what.settings]
    places = [("file", one_line(what.file)), *((name, one_line(path)) for name, path in what.folders.items())]
    setup = f"\n{approval(what.setup)}" if what.setup else ""
    if what.problem:
        setup = f"\nsetup of this repository: {one_line(what.problem)}\n"
    return f"{aligned(settings)}\n{aligned(places)}{setup}"


def approval(what: Approval) -> str:
    """What a setup does, a line a thing, under whether it was approved."""
    agreed = "approved" if what.approved else "NOT approved; next: fan config approve"
    lines = "".join(f"  {line}\n" for line in what.does)
    return f"setup of {one_line(what.repo)} from {what.source}: {agreed}\n{lines}"


def diagnosis(what: Diagnosis) -> str:
    """One line a check: whether it is well, what was found, and what to do if it is not."""
    return aligned([(_mark(one), one.name, _found(one)) for one in what.checks])


def _mark(check: Check) -> str:
    if not check.ok:
        return "NO"
    return "note" if check.warning else "ok"


def _found(check: Check) -> str:
    fix = f"next: {check.fix}" if check.fix and not check.ok else ""
    return "; ".join(part for part in (one_line(check.found), one_line(check.warning), fix) if part)
