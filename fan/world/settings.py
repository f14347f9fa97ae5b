"""Settings: built-in, then the person's file, then `FAN_*` variables; each value knows where it came from."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

import msgspec

from fan.core.complaint import complaint
from fan.core.setup import LAST_PORT
from fan.errors import BadSetting
from fan.world.files import there

FILE = "config.toml"
BOUNDS = {"max_members": (1, inf), "port_base": (1, LAST_PORT)}
"""Of those that may not be any number from 0 on."""
WAYS = frozenset({"none", "bell", "desktop"})


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every setting with its built-in value; docs/settings.md explains them."""

    max_members: int = 64
    """How many members one `fan N` may make."""
    patience: float = 600.0
    """Seconds a prompt waits for its agent to rest; waiting for the person or a limit is not counted."""
    trash_days: float = 7.0
    """Days that a removed worktree's files stay in the trash; its refs stay longer."""
    min_free_mb: int = 200
    """Megabytes that must stay free on the worktrees' disk beyond what the checkouts need."""
    port_base: int = 20000
    """The first port that members may be given."""
    courier_lingers: float = 5.0
    """Seconds the courier stays after the last session of ours has ended."""
    agents_may: str = ""
    """What agents may do besides, of: fan, keep, rm, discard, undo, archive-rm, approve, human. Only the file's value
    counts."""
    wake: bool = True
    """Whether an agent at rest is told by a typed line that mail has come."""
    wake_every: float = 60.0
    """Seconds between two such lines to one agent."""
    notify: str = "none"
    """How the person is told that something waits for them: none, or of: bell, desktop."""
    room_days: float = 30.0
    """Days that a group's mail stays after its last worktree has gone."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The values, and for each where it came from."""

    values: Values
    origins: Mapping[str, str]


def load(config: Path, environ: Mapping[str, str]) -> Settings:
    """The settings as they stand. Raises BadSetting, naming the file or variable."""
    merged: dict[str, object] = {}
    origins = dict.fromkeys(Values.__struct_fields__, "built-in")
    file = config / FILE
    if there(file) is not False:
        _merge(merged, origins, _read(file), str(file))
    told = {name: environ[f"FAN_{name.upper()}"] for name in origins if environ.get(f"FAN_{name.upper()}")}
    for name, text in told.items():
        _merge(merged, origins, {name: text}, f"FAN_{name.upper()}")
    return Settings(_checked(merged, "the settings"), origins)


def _merge(merged: dict[str, object], origins: dict[str, str], found: Mapping[str, object], where: str) -> None:
    _checked(found, where)
    merged.update(found)
    origins.update(dict.fromkeys(found, where))


def _read(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _bad(str(file), f"it cannot be read: {complaint(error)}") from error


def _checked(found: Mapping[str, object], where: str) -> Values:
    try:
        values = msgspec.convert(found, Values, strict=False)
    except msgspec.ValidationError as error:
        raise _bad(where, complaint(error)) from error
    for name in Values.__struct_fields__:
        value = getattr(values, name)
        least, most = BOUNDS.get(name, (0, inf))
        if isinstance(value, (int, float)) and not least <= value <= most:
            raise _bad(where, f"`{name}` must not be {f'above {most}' if value > most else f'below {least}'}")
    unknown = set(values.notify.replace(",", " ").split()) - WAYS
    if unknown:
        ways = ", ".join(sorted(WAYS))
        raise _bad(where, f"`notify` takes {ways}, not {min(unknown)}")
    return values


def _bad(where: str, what: str) -> BadSetting:
    """The next command shows the file, or takes the variable away: `fan config` itself needs both."""
    look = f"unset {where}" if where.startswith("FAN_") else f"cat {shlex.quote(where)}"
    return BadSetting(f"{where}: {what}", not_done="nothing was done", hint=look)
