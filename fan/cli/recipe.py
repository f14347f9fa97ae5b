"""`recipe ls|show|check|score`: the agents that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fan.cli.common import Json, answer, noun, verb, world
from fan.cli.complete import agents


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    recipe = noun(app, "recipe", "Look at the recipes, one an agent.", "fan recipe show demo")
    verb(recipe, "ls", "fan recipe ls")(ls)
    verb(recipe, "show", "fan recipe show demo")(show)
    verb(recipe, "check", "fan recipe check my-agent.toml")(check)
    verb(recipe, "score", "fan recipe score tests/screens")(score)


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
    from fan.render import output
    from fan.render import recipes as render
    from fan.verbs import recipes

    shown = recipes.show(world(), agent)
    if (found := render.installed(shown)) and not as_json:
        output.aside(f"installed: {found}")
    return answer(shown, lambda: render.shown(shown), as_json=as_json)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe, anywhere.")], as_json: Json = False
) -> int:
    """Say whether a recipe file is valid, and if not, why."""
    from fan.verbs import recipes

    entry = recipes.check(world(), file)
    return answer(entry, lambda: f"{file} is a valid recipe of {entry.title}\n", as_json=as_json)


def score(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="AGENT/NAME.txt, each beside its .json.")],
    as_json: Json = False,
) -> int:
    """Say what the recipes read in recorded screens; exit code 1 when one that is not at rest was read as rest."""
    from fan.render import output
    from fan.render import score as render
    from fan.verbs import score as verbs

    found = verbs.score(world(), folder)
    for line in render.passed_over(found):
        output.aside(line)
    code = 1 if found.false_rests else 0
    if as_json and (slips := render.slips(found)):
        output.aside(slips.strip("\n"))
    return answer(found.matrix(), lambda: render.table(found) + render.slips(found), as_json=as_json, code=code)
