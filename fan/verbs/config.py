"""`fan config`: every setting, its value, and where it came from; and the setup of the repository."""

from __future__ import annotations

from dataclasses import dataclass

from fan.errors import BadSetting, NotAllowed, NotFound, ToolMissing
from fan.verbs.approval import Approval, approval
from fan.world import setup as files
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
    """All settings by name, the file that can change them, the folders in use, the repository's setup.

    `problem` says why that setup cannot be read.
    """

    settings: list[Setting]
    file: str
    folders: dict[str, str]
    setup: Approval | None = None
    problem: str = ""


def config(world: World) -> Configuration:
    """The settings as they stand. Raises BadSetting where they are not valid."""
    found = world.settings
    setup, problem = _setup(world)
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
        setup=setup,
        problem=problem,
    )


def _setup(world: World) -> tuple[Approval | None, str]:
    """What the repository asks for, and why it cannot be read; nothing outside of one that git can read."""
    try:
        repo = world.git.repository(world.cwd)
    except (NotFound, NotAllowed, ToolMissing):
        return None, ""  # the settings can be looked at from anywhere
    try:
        setup = files.of_repository(repo)
    except BadSetting as error:
        return None, error.message
    return (approval(world, repo, setup) if setup else None), ""
