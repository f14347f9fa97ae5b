"""Which version of an agent is installed, and whether its recipe was recorded on that one."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fan.core.recipe import Recipe, Version
from fan.errors import FanError
from fan.verbs.side_by_side import side_by_side
from fan.world import commands
from fan.world.world import World

PATIENCE = 5.0
"""Seconds that a program may take to say its version; then it is ended."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An agent's version by its own word (empty: it cannot be told), and what the person should know of it."""

    name: str
    version: str
    warning: str = ""


def installed(world: World, recipes: Sequence[Recipe]) -> list[Installed]:
    """Ask the programs of those recipes that know how, all at once."""
    stopped = threading.Event()
    asked = [(recipe, recipe.version) for recipe in recipes if recipe.version]
    return side_by_side(partial(_installed, world, stopped), asked, len(asked), stopped) if asked else []


def _installed(world: World, stopped: threading.Event, asked: tuple[Recipe, Version]) -> Installed:
    recipe, how = asked
    try:
        said = _said(world, how, stopped)
    except FanError as error:
        return Installed(recipe.name, "", f"its version cannot be told: {error.message}")
    found = re.search(how.pattern, said, re.MULTILINE)
    if found is None:
        return Installed(recipe.name, "", f"its version cannot be told: `{' '.join(how.command)}` says no such thing")
    return Installed(recipe.name, found[1], drift(found[1], recipe.recorded))


def drift(version: str, recorded: Sequence[str]) -> str:
    """What to know of a version that the recipe's screens were not taken from."""
    if version in recorded:
        return ""
    return f"its recipe was recorded on {', '.join(recorded)}; a screen that it does not know reads as unknown"


def _said(world: World, how: Version, stopped: threading.Event) -> str:
    words = [word.replace("{python}", world.python[0]) for word in how.command]
    return commands.said(words, world.cwd, world.environ, PATIENCE, stopped=stopped.is_set)
