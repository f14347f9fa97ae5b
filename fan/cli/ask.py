"""`ask`: a question to a member's agent, and its answer."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from fan.cli.common import Json, Target, answer, verb, world
from fan.cli.numbers import seconds
from fan.cli.text import worded
from fan.core.defaults import ASK_SECONDS


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    verb(app, "ask", "fan ask fan/add-retry-backoff-http 'Which tests cover the retry?'", with_text=True)(ask)


def ask(
    member: Target,
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="The question; - reads it from standard input.")],
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", parser=seconds, metavar="S", help="Seconds to wait for the answer; then exit code 6."
        ),
    ] = ASK_SECONDS,
    as_json: Json = False,
) -> int:
    """Ask a member's agent, once it rests, and wait for its answer."""
    from fan.render.ask import answered
    from fan.verbs import ask as verbs

    for asked in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asked, signal.default_int_handler)  # what was not typed is taken back, as at Ctrl-C
    question = worded(text)
    found = verbs.ask(world(), verbs.AskRequest(member, question, timeout))
    return answer(found, lambda: answered(found), as_json=as_json)
