"""`fan config`: every setting, its value, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass

from fan.world.settings import FILE, Values
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting with its value and origin (`built-in`, a file, a variable)."""

    name: str
    value: int | float | str | bool
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings by name, the file that can change them, and the folders in use."""

    settings: list[Setting]
    file: str
    folders: dict[str, str]


def config(world: World) -> Configuration:
    """The settings as they stand. Raises BadSetting."""
    found = world.settings
    names = Values.__struct_fields__
    paths = world.paths
    return Configuration(
        settings=[Setting(name, getattr(found.values, name), found.origins[name]) for name in names],
        file=str(paths.config / FILE),
        folders={
            "state": str(paths.state),
            "worktrees": str(paths.worktrees),
            "config": str(paths.config),
            "runtime": str(paths.runtime),
        },
    )
