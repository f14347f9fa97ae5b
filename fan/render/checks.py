"""Settings and checks as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fan.core.plain import one_line
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.config import Configuration
    from fan.verbs.doctor import Check, Diagnosis


def configuration(what: Configuration) -> str:
    """Each setting with its value and origin, then the file that can change them and the folders."""
    settings = [(one.name, str(one.value), one_line(one.origin)) for one in what.settings]
    places = [("file", one_line(what.file)), *((name, one_line(path)) for name, path in what.folders.items())]
    return f"{aligned(settings)}\n{aligned(places)}"


def diagnosis(what: Diagnosis) -> str:
    """One line a check: whether it is well, what was found, and what to do if it is not."""
    return aligned([("ok" if one.ok else "NO", one.name, _found(one)) for one in what.checks])


def _found(check: Check) -> str:
    fix = f"; next: {check.fix}" if check.fix and not check.ok else ""
    return one_line(check.found) + fix
