"""The recipes: those shipped with `fan`, and over them those in the person's own folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from fan.core.complaint import complaint
from fan.core.recipe import Option, Recipe, Trust, parse
from fan.errors import BadRecipe, NotFound, ToolMissing
from fan.world.files import is_folder, which


class Choice(Struct, frozen=True):
    """An agent as asked for: its recipe and the named option (empty: none)."""

    recipe: Recipe
    variant: str
    option: Option

    @property
    def label(self) -> str:
        """`agent` or `agent:option`."""
        return f"{self.recipe.name}:{self.variant}" if self.variant else self.recipe.name

    @property
    def trust(self) -> Trust:
        """Whether it asks for trust when launched so."""
        return self.option.trust or self.recipe.trust


class Catalogue:
    """Recipes by name. A file that is not asked for is not read."""

    def __init__(self, own: Path, builtin: Path | None = None) -> None:
        self._folders = (own, builtin or shipped())
        self._read: dict[Path, tuple[tuple[int, int], Recipe]] = {}

    def names(self) -> dict[str, Path]:
        """Every recipe's name and file; the person's own come before the shipped ones of the same name."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            for file in sorted(folder.glob("*.toml")) if is_folder(folder) else ():
                found.setdefault(file.stem, file)
        return dict(sorted(found.items()))

    def recipe(self, name: str) -> Recipe:
        """The recipe of that name. Raises NotFound with near names, BadRecipe."""
        names = self.names()
        if name not in names:
            from difflib import get_close_matches

            near = get_close_matches(name, names, n=3)
            known = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
            raise NotFound(f"there is no agent `{name}`; {known}", not_done="nothing was made", hint="fan recipe ls")
        return self.load(names[name])

    def load(self, file: Path) -> Recipe:
        """The recipe in `file`, read again when the file has changed. Raises BadRecipe."""
        try:
            found = file.stat()
            mark = found.st_mtime_ns, found.st_size
            known = self._read.get(file)
            if known and known[0] == mark:
                return known[1]
            data = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BadRecipe(
                f"{file} cannot be read: {complaint(error)}", not_done="nothing was done", hint="fan recipe show demo"
            ) from error
        recipe = parse(data, where=str(file))
        if recipe.name != file.stem:
            raise BadRecipe(f"{file} is named for another agent than its `name`, {recipe.name}")
        self._read[file] = mark, recipe
        return recipe

    def choose(self, asked: str) -> Choice:
        """The agent `name` or `name:option`. Raises NotFound."""
        name, _, variant = asked.partition(":")
        recipe = self.recipe(name)
        if variant and variant not in recipe.options:
            known = ", ".join(recipe.options) or "none"
            raise NotFound(
                f"agent `{name}` has no option `{variant}`; it has: {known}",
                not_done="nothing was made",
                hint=f"fan recipe show {name}",
            )
        return Choice(recipe, variant, recipe.options.get(variant, Option()))


def shipped() -> Path:
    """The folder of built-in recipes: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "recipes"
    return inside if inside.is_dir() else package.parent / "recipes"


def program(command: str, recipe: Recipe, environ: Mapping[str, str]) -> str:
    """The absolute path of an agent's program. Raises ToolMissing."""
    found = which(command, environ.get("PATH"))
    if found is None:
        raise ToolMissing(
            f"agent `{recipe.name}` needs the program `{command}`, which is not on PATH",
            not_done="nothing was made",
            hint="fan recipe ls",
        )
    return str(Path(found).absolute())
