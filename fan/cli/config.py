"""`config`: the settings and a repository's setup, `config approve`, and `doctor`: whether all is there."""

from __future__ import annotations

import typer

from fan.cli.common import Json, answer, verb, world


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    noun = typer.Typer(invoke_without_command=True, subcommand_metavar="[approve]")
    noun.callback(epilog="Example: fan config")(config)
    verb(noun, "approve", "fan config approve")(approve)
    app.add_typer(noun, name="config")
    verb(app, "doctor", "fan doctor")(doctor)


def config(context: typer.Context, as_json: Json = False) -> int:
    """Show every setting and where its value comes from, and what this repository's setup would do."""
    if context.invoked_subcommand:
        return 0
    from fan.render import checks as render
    from fan.verbs import config as verbs

    found = verbs.config(world())
    return answer(found, lambda: render.configuration(found), as_json=as_json)


def approve(as_json: Json = False) -> int:
    """Agree to this repository's setup, as it is now: it is shown, and a change asks again."""
    from fan.render import checks as render
    from fan.verbs import approval

    agreed = approval.approve(world())
    return answer(agreed, lambda: render.approval(agreed), as_json=as_json)


def doctor(as_json: Json = False) -> int:
    """Check tools, folders, recipes, agents and courier."""
    from fan.render import checks as render
    from fan.verbs import doctor as verbs

    found = verbs.doctor(world())
    return answer(found, lambda: render.diagnosis(found), as_json=as_json, code=found.exit_code)
