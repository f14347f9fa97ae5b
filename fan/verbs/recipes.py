"""`fan recipe`: which agents are known, what a recipe says, whether a file is a valid one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fan.core.recipe import Recipe
from fan.errors import BadRecipe
from fan.verbs.versions import Installed, installed
from fan.world.files import which
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Entry:
    """One recipe. `program` is where its agent is on PATH (empty: not there); `problem` why it is not valid."""

    name: str
    title: str
    origin: str
    file: str
    program: str
    options: list[str]
    recorded: list[str]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A recipe's entry, its text, and which version of its agent is installed, where that can be asked."""

    entry: Entry
    text: str
    installed: Installed | None = None


def ls(world: World) -> list[Entry]:
    """All recipes by name, with what is wrong with those that cannot be used."""
    return [_entry(world, name, file) for name, file in world.catalogue.names().items()]


def show(world: World, name: str) -> Shown:
    """One recipe. Raises NotFound, BadRecipe."""
    recipe = world.catalogue.recipe(name)
    file = world.catalogue.names()[name]
    entry = _entry(world, name, file)
    found = installed(world, [recipe]) if entry.program else []
    return Shown(entry, file.read_text(encoding="utf-8"), found[0] if found else None)


def check(world: World, file: Path) -> Entry:
    """The entry of a recipe file anywhere. Raises BadRecipe with file, key and reason."""
    world.catalogue.load(file)
    return _entry(world, file.stem, file)


def _entry(world: World, name: str, file: Path) -> Entry:
    origin = "yours" if file.parent == world.paths.recipes else "built-in"
    try:
        recipe = world.catalogue.load(file)
    except BadRecipe as error:
        return Entry(name, "", origin, str(file), "", [], [], error.message)
    return Entry(
        name=recipe.name,
        title=recipe.title,
        origin=origin,
        file=str(file),
        program=_program(world, recipe),
        options=sorted(recipe.options),
        recorded=recipe.recorded,
    )


def _program(world: World, recipe: Recipe) -> str:
    command = recipe.launch.command[0].replace("{python}", world.python[0])
    return which(command, world.environ.get("PATH")) or ""
