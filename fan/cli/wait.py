"""`wait`: for members, for mail, for words on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from fan.cli.common import Json, Target, answer, noun, said, verb, world
from fan.cli.complete import groups, members
from fan.cli.numbers import seconds
from fan.core.defaults import WAIT_SECONDS, WAIT_STATES

if TYPE_CHECKING:
    from fan.verbs.wait import WaitRequest

DEFAULT = "members"
Timeout = Annotated[
    float, typer.Option("--timeout", parser=seconds, metavar="S", help="Seconds to wait; then exit code 6.")
]


class Forms(TyperGroup):
    """What can be waited for; words that name none of it name members."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As every group does, with the form that is left out written in."""
        is_told = bool(args) and (args[0] in self.commands or args[0] in ("-h", "--help"))
        return super().parse_args(ctx, args if is_told else [DEFAULT, *args])


def register(app: typer.Typer) -> None:
    """Put this verb into the program."""
    about = "Wait for members (`members` may be left out), for mail, or for words on a screen."
    example = "fan wait fan/add-retry-backoff-http --until rest"
    forms = {"cls": Forms, "subcommand_metavar": "[members] [TARGET...]", "no_args_is_help": False}
    wait = noun(app, "wait", about, example, **forms)
    verb(wait, DEFAULT, "fan wait members fan/add-retry-backoff-http --until rest")(_members)
    verb(wait, "idle", "fan wait idle fan/add-retry-backoff-http:2")(idle)
    verb(wait, "exit", "fan wait exit fan/add-retry-backoff-http:2 --timeout 600")(exit_)
    verb(wait, "output", "fan wait output fan/add-retry-backoff-http:2 'tests? passed'")(output)
    verb(wait, "agent-message", "fan wait agent-message --from fan/add-retry-backoff-http:2")(agent_message)


def _members(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET...]",
            help="Members, or groups for all of theirs; none: the group you stand in.",
            autocompletion=lambda: [*groups(), *members()],
        ),
    ] = None,
    until: Annotated[
        str, typer.Option("--until", metavar="STATES", help="Of: rest, needs_input, exited, errored, limited.")
    ] = ",".join(WAIT_STATES),
    any_one: Annotated[bool, typer.Option("--any/--all", help="The first one, or each of them.")] = False,
    timeout: Timeout = WAIT_SECONDS,
    as_json: Json = False,
) -> int:
    """Wait until members have come to a state; rest counts once the last prompt's turn is over."""
    from fan.verbs.wait import WaitRequest

    states = tuple(word.strip() for word in until.split(",") if word.strip())
    return _waited(WaitRequest(tuple(targets or ()), states, any_one, timeout), as_json=as_json)


def idle(member: Target, timeout: Timeout = WAIT_SECONDS, as_json: Json = False) -> int:
    """Wait until one member rests, or asks something that can be answered by `send`."""
    from fan.verbs.wait import IDLE, WaitRequest

    return _waited(WaitRequest((member,), (IDLE,), timeout=timeout), as_json=as_json)


def exit_(member: Target, timeout: Timeout = WAIT_SECONDS, as_json: Json = False) -> int:
    """Wait until a member's agent has exited, or its session is gone."""
    from fan.verbs.wait import WaitRequest

    return _waited(WaitRequest((member,), ("exited",), timeout=timeout), as_json=as_json)


def output(
    member: Target,
    pattern: Annotated[str, typer.Argument(metavar="REGEX", help="A regular expression, for one line.")],
    timeout: Timeout = WAIT_SECONDS,
    as_json: Json = False,
) -> int:
    """Wait until a line on a member's screen fits, as one may already."""
    from fan.render.waiting import shown
    from fan.verbs import wait as verbs

    found = verbs.output(world(), member, pattern, timeout)
    return answer(found, lambda: shown(found), as_json=as_json)


def agent_message(
    thread: Annotated[str, typer.Option("--thread", metavar="ID", help="Only of this thread.")] = "",
    sender: Annotated[
        str, typer.Option("--from", metavar="MEMBER", help="Only from this member, or human.", autocompletion=members)
    ] = "",
    timeout: Timeout = WAIT_SECONDS,
    as_json: Json = False,
) -> int:
    """Wait until your own inbox has an unread message, as it may already; reads none."""
    from fan.render.waiting import mail
    from fan.verbs import wait as verbs

    here = world()
    found = verbs.mail(here, thread, sender, timeout)
    return answer(found, lambda: mail(found, here.clock.now(), said), as_json=as_json)


def _waited(request: WaitRequest, *, as_json: bool) -> int:
    from fan.render.waiting import reached
    from fan.verbs import wait as verbs

    found = verbs.members(world(), request)
    return answer(found, lambda: reached(found), as_json=as_json)
