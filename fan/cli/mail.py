"""`mail`: notes between agents and the person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fan.cli.common import InGroup, Json, answer, noun, once_read, said, verb, world
from fan.cli.complete import members
from fan.cli.numbers import count, seconds
from fan.cli.text import worded
from fan.core.defaults import ASK_HUMAN_SECONDS, MESSAGES_SHOWN
from fan.render import output

if TYPE_CHECKING:
    from fan.verbs.mail import Mailed
    from fan.verbs.mailbox import Reading, ReadRequest

Text = Annotated[str, typer.Argument(metavar="TEXT|-", help="The message; - reads it from standard input.")]
Attach = Annotated[
    list[str] | None, typer.Option("--attach", metavar="PATH", help="Hand over a file; may be given 8 times.")
]
Key = Annotated[str, typer.Option("--key", metavar="K", help="The same key sends the message once.")]


def register(app: typer.Typer) -> None:
    """Put these verbs into the program."""
    mail = noun(app, "mail", "Send, read and answer messages.", "fan mail read --unread")
    verb(mail, "send", "fan mail send human 'The tests pass; the fix is in retry.py.'", with_text=True)(send)
    verb(mail, "reply", "fan mail reply k3j4h2l1 'Yes, go on.'", with_text=True)(reply)
    verb(mail, "read", "fan mail read --unread")(read)
    example = "fan mail ask-human 'May I drop the old API?' --option 'Yes, drop it' --option 'No, keep it'"
    verb(mail, "ask-human", example, with_text=True)(ask_human)
    verb(mail, "ls", "fan mail ls --group fan/add-retry-backoff-http")(ls)


def send(
    to: Annotated[
        str,
        typer.Argument(metavar="TO", help="A member, GROUP:all, or human.", autocompletion=members),
    ],
    text: Text,
    subject: Annotated[str, typer.Option("--subject", metavar="S", help="At most 120 characters.")] = "",
    reply_to: Annotated[str, typer.Option("--reply-to", metavar="ID", help="In that message's thread.")] = "",
    attach: Attach = None,
    key: Key = "",
    claim: Annotated[str, typer.Option("--from", metavar="NAME", help="Who you say you are; shown as a claim.")] = "",
    as_json: Json = False,
) -> int:
    """Send a message; it is stored before anything is said."""
    from fan.verbs import mail as verbs

    request = verbs.MailRequest(to, worded(text), subject, reply_to, tuple(attach or ()), key, claim)
    return _sent(verbs.mail(world(), request), as_json=as_json)


def reply(
    message: Annotated[str, typer.Argument(metavar="ID", help="The message that is answered.")],
    text: Text,
    attach: Attach = None,
    key: Key = "",
    as_json: Json = False,
) -> int:
    """Answer a message, in its thread."""
    from fan.verbs import mail as verbs

    return _sent(verbs.reply(world(), message, worded(text), tuple(attach or ()), key), as_json=as_json)


def read(
    inbox: Annotated[
        str | None,
        typer.Argument(metavar="[INBOX]", help="A member or human; none: your own.", autocompletion=members),
    ] = None,
    peek: Annotated[bool, typer.Option("--peek", help="Mark nothing as read.")] = False,
    unread: Annotated[bool, typer.Option("--unread", help="Only what was not read yet.")] = False,
    thread: Annotated[str, typer.Option("--thread", metavar="ID", help="Only this thread.")] = "",
    limit: Annotated[
        int, typer.Option("--limit", parser=count, metavar="N", help="At most so many.")
    ] = MESSAGES_SHOWN,
    as_json: Json = False,
) -> int:
    """Read messages; what was written out is marked as read."""
    from fan.verbs import mailbox as verbs

    here = world()
    request = verbs.ReadRequest(inbox, peek, unread, thread, limit)
    found = verbs.read(here, request)
    written, lost = _whole(found) if as_json else _one_by_one(found, request, here.clock.now())
    if (written or lost) and not found.peek:
        once_read(lambda: verbs.mark_read(here, written, lost))
    return 0


def ask_human(
    question: Annotated[str, typer.Argument(metavar="QUESTION|-", help="What the person is to decide.")],
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="A", help="An answer to offer; may be given 9 times.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", parser=seconds, metavar="S", help="Wait no longer; at most 3600.")
    ] = ASK_HUMAN_SECONDS,
    as_json: Json = False,
) -> int:
    """Ask the person and wait for the answer; a time-out is never a yes."""
    from fan.render import mail as render
    from fan.render.handover import taken
    from fan.verbs import asking_human as verbs
    from fan.verbs.mailbox import mark_read

    here = world()
    found = verbs.ask_human(here, verbs.AskHumanRequest(worded(question), tuple(option or ()), timeout))
    if as_json:
        from fan.render.values import as_json as written

        is_shown = taken(written(found))
    else:
        is_shown = taken(render.human_answer(found))
    if is_shown:
        once_read(lambda: mark_read(here, [found.id]))
    return 0


def ls(
    group: InGroup = None,
    as_json: Json = False,
) -> int:
    """List the threads: all for a person, an agent's own for an agent."""
    from fan.render import mail as render
    from fan.verbs import mailbox as verbs

    here = world()
    found = verbs.talks(here, group)
    return answer(found, lambda: render.talks(found, here.clock.now()), as_json=as_json)


def _whole(found: Reading) -> tuple[list[str], int]:
    """Print it as one JSON value; the ids of what reached its reader, and how many it was told are lost."""
    from fan.render.handover import taken
    from fan.render.values import as_json

    return ([one.id for one in found.messages], found.evicted) if taken(as_json(found)) else ([], 0)


def _one_by_one(found: Reading, request: ReadRequest, now: float) -> tuple[list[str], int]:
    """Print message by message; the ids of those that reached their reader, and how many it was told are lost."""
    from fan.render import mail as render
    from fan.render.handover import taken

    written, is_taken = [], True
    for one in found.messages:
        show = taken if is_taken else output.result
        is_taken = show(render.message(one, now, said)) and is_taken
        if is_taken:
            written.append(one.id)
    show = taken if is_taken else output.result
    is_taken = show(said(render.summary(found, request))) and is_taken
    return written, found.evicted if is_taken else 0


def _sent(done: Mailed, *, as_json: bool) -> int:
    from fan.render import mail as render

    for one in done.left:
        output.aside(one.reason)
    for note in done.notes:
        output.aside(note)
    if done.evicted:
        output.aside(f"{render.older(done.evicted)} evicted to make room")
    return answer(done, lambda: render.mailed(done), as_json=as_json, code=done.exit_code)
