"""`recipe ls|show|check`: the agents that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fan.cli.common import Json, answer, verb, world
from fan.cli.complete import agents


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    recipe = typer.Typer(help="Look at the recipes, one an agent.", no_args_is_help=True)
    verb(recipe, "ls", "fan recipe ls")(ls)
    verb(recipe, "show", "fan recipe show demo")(show)
    verb(recipe, "check", "fan recipe check my-agent.toml")(check)
    app.add_typer(recipe, name="recipe")


def ls(as_json: Json = False) -> int:
    """List the known agents and which are on PATH."""
    from fan.render import recipes as render
    from fan.verbs import recipes

    found = recipes.ls(world())
    return answer(found, lambda: render.entries(found), as_json=as_json)


def show(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Its name.", autocompletion=agents)],
    as_json: Json = False,
) -> int:
    """Print an agent's recipe."""
    from fan.render import recipes as render
    from fan.verbs import recipes

    shown = recipes.show(world(), agent)
    return answer(shown, lambda: render.shown(shown), as_json=as_json)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe, anywhere.")], as_json: Json = False
) -> int:
    """Say whether a recipe file is valid, and if not, why."""
    from fan.verbs import recipes

    entry = recipes.check(world(), file)
    return answer(entry, lambda: f"{file} is a valid recipe of {entry.title}\n", as_json=as_json)
