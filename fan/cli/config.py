"""`config`: the settings, and `doctor`: whether all is there."""

from __future__ import annotations

import typer

from fan.cli.common import Json, answer, verb, world


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    verb(app, "config", "fan config")(config)
    verb(app, "doctor", "fan doctor")(doctor)


def config(as_json: Json = False) -> int:
    """Show every setting and where its value comes from."""
    from fan.render import checks as render
    from fan.verbs import config as verbs

    found = verbs.config(world())
    return answer(found, lambda: render.configuration(found), as_json=as_json)


def doctor(as_json: Json = False) -> int:
    """Check tools, folders, recipes, agents and courier."""
    from fan.render import checks as render
    from fan.verbs import doctor as verbs

    found = verbs.doctor(world())
    return answer(found, lambda: render.diagnosis(found), as_json=as_json, code=found.exit_code)
