"""`fan doctor`: whether everything that `fan` needs is there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fan.errors import FanError
from fan.verbs import recipes
from fan.verbs.recipes import Entry
from fan.verbs.versions import installed
from fan.world import processes
from fan.world.files import free_bytes
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked. `fix` is the next command where it is not well, `warning` what to know if it is."""

    name: str
    ok: bool
    found: str
    fix: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks, in the order of what depends on what."""

    checks: list[Check]

    @property
    def exit_code(self) -> int:
        """0 when all is well."""
        return 0 if all(check.ok for check in self.checks) else 1


def doctor(world: World) -> Diagnosis:
    """Check tools, folders, store, recipes, agents and the courier; nothing is changed."""
    checks = [
        Check("python", sys.version_info >= (3, 11), sys.version.split()[0], "install Python 3.11 or newer"),
        _try("git", lambda: _dotted(world.git.version())),
        _try("tmux", lambda: _dotted(world.tmux.version())),
        _try("settings", lambda: f"{len(world.settings.origins)} settings"),
        _try("store", lambda: f"{len(world.store.groups())} groups in {world.paths.state}"),
        _try("disk", lambda: f"{free_bytes(world.paths.worktrees) >> 20} MB free for worktrees"),
    ]
    entries = recipes.ls(world)
    checks += [Check(f"recipe {one.name}", ok=False, found=one.problem) for one in entries if one.problem]
    there = [one.name for one in entries if one.program]
    absent = [one.name for one in entries if not one.program and not one.problem]
    note = f"{', '.join(there)} on PATH" + (f"; not there: {', '.join(absent)}" if absent else "")
    checks.append(Check("agents", bool(there), note, "install an agent, or try: fan demo"))
    checks += _versions(world, [one for one in entries if one.program])
    if all(check.ok for check in checks):
        checks.append(_courier(world))
    return Diagnosis(checks)


def _try(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, ok=True, found=look())
    except FanError as error:
        return Check(name, ok=False, found=error.message, fix=error.hint)


def _versions(world: World, entries: Sequence[Entry]) -> list[Check]:
    """An agent newer than its recipe is no fault: most of its screens look as before."""
    found = installed(world, [world.catalogue.load(Path(one.file)) for one in entries])
    return [Check(f"agent {one.name}", ok=True, found=one.version, warning=one.warning) for one in found]


def _courier(world: World) -> Check:
    """A courier runs only while there is something for it to do: its absence alone is no fault."""
    running = world.store.running()
    if running and processes.alive(running.pid, running.started):
        return Check("courier", ok=True, found=f"running (version {running.version}, pid {running.pid})")
    waiting = world.store.open_deliveries()
    if not waiting or not world.tmux.panes():
        return Check("courier", ok=True, found="not running, nothing to do")
    return Check("courier", ok=False, found=f"not running, {len(waiting)} prompts wait", fix="fan ls starts it")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
