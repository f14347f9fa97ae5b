"""Mail for people and agents: every author's words between fence lines."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from shlex import quote
from typing import TYPE_CHECKING

from fan.core.defaults import MESSAGES_SHOWN
from fan.core.fence import fenced
from fan.core.plain import one_line, visible
from fan.core.secrets import masked, quoted
from fan.render.cells import age
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.asking_human import HumanAnswer
    from fan.verbs.mail import Mailed
    from fan.verbs.mailbox import File, MessageView, Reading, ReadRequest, Talk


def mailed(done: Mailed) -> str:
    """A line for each message that was stored."""
    lines = []
    for one in done.sent:
        again = ", sent before by this key" if one.repeated else ""
        missing = "; what it replies to has been evicted" if one.reply_to_missing else ""
        lines.append(f"{one.id}  stored for {one_line(one.to)} in thread {one.thread}{again}{missing}\n")
    return "".join(lines)


def message(one: MessageView, now: float, said: Callable[[str], str]) -> str:
    """One message: what we know of it, its author's words between the fence lines, how to reply.

    `said` has the commands in a text of ours as this person would type them; an author's words stay as they are. An
    alert ends with such a command.
    """
    return f"{_head(one, now)}\n{fenced(_words(one, said), _source(one), secrets.token_hex(4))}{said(_foot(one))}"


def human_answer(one: HumanAnswer) -> str:
    """The person's answer as the asker reads it; between fence lines where it may be somebody else's."""
    how = f"option {one.option}" if one.option else "in their own words"
    source = f"{one_line(one.author)} (verified: {one.verified})"
    head = f"answer {one.id} from {source} to question {one.question}; {how}\n"
    return head + (fenced(one.text, source, secrets.token_hex(4)) if one.untrusted else f"{visible(one.text)}\n")


def summary(found: Reading, request: ReadRequest) -> str:
    """What is to be said behind the messages that were asked for so; the command shows those that are left."""
    lines = []
    if not found.messages:
        lines.append("no mail\n")
    if found.note:
        lines.append(f"{found.note}\n")
    if found.more:
        lines.append(f"{found.more} more: {_rest(found, request)}\n")
    if found.evicted:
        lines.append(f"{older(found.evicted)} evicted, since the room was full\n")
    return "".join(lines)


def _rest(found: Reading, request: ReadRequest) -> str:
    """The same again, where what was shown is read by then and does not come again; else with what was shown."""
    words = ["fan mail read", *([quote(request.inbox)] if request.inbox else [])]
    words += ["--peek"] * request.peek + ["--unread"] * request.unread
    words += [f"--thread {request.thread}"] if request.thread else []
    stays = found.peek or bool(request.thread)
    limit = len(found.messages) + found.more if stays else request.limit
    return " ".join([*words, *([] if limit == MESSAGES_SHOWN else [f"--limit {limit}"])])


def older(count: int) -> str:
    """Messages that had to go, with their verb."""
    return "1 older message was" if count == 1 else f"{count} older messages were"


def talks(found: Iterable[Talk], now: float) -> str:
    """A line a thread: id, when, unread, who, what about."""
    table = [
        (
            one.thread,
            f"{age(one.at, now)} ago",
            f"{one.messages} messages" if one.messages > 1 else "1 message",
            f"{one.unread} unread" if one.unread else "-",
            one_line(", ".join(one.participants)),
            f"{one.kind}: {one.about}" if one.kind != "mail" else one.about,
        )
        for one in found
    ]
    return fenced(aligned(table), "the writers in these threads", secrets.token_hex(4)) if table else "no mail\n"


def _head(one: MessageView, now: float) -> str:
    kind = "message" if one.kind == "mail" else one.kind
    told = f"{kind} {one.id} from {_source(one)} to {one_line(one.to)}, {age(one.receipts.stored, now)} ago"
    notes = []
    if one.thread != one.id:
        notes.append(f"thread {one.thread}")
    if one.reply_to:
        notes.append(f"reply to {one.reply_to}{', which has been evicted' if one.reply_to_missing else ''}")
    if one.closed:
        notes.append(f"closed: {one.closed}")
    if one.kind == "question" and one.receipts.answered is not None:
        notes.append(f"answered {age(one.receipts.answered, now)} ago")
    if one.receipts.closed is None and one.until is not None:
        left = one.until - now
        waits = f"its asker waits {left:.0f} s more" if left > 0 else "its asker waits no longer: it gets a mail"
        notes.append(waits)
    if one.undeliverable:
        notes.append(f"undeliverable: {one.undeliverable}")
    return "; ".join([told, *notes])


def _source(one: MessageView) -> str:
    quoted = one_line(one.claim).replace('"', "'")
    claim = f', claims to be "{quoted}"' if quoted else ""
    return f"{one_line(one.author)} (verified: {one.verified}{claim})"


def _words(one: MessageView, said: Callable[[str], str]) -> str:
    """All that is the author's, the names of files too. Secrets are masked: `--json` has the bytes."""
    parts = [f"Subject: {quoted(one.subject)}\n"] if one.subject else []
    told, end, command = masked(one.body).rpartition("; ") if one.kind == "alert" else (masked(one.body), "", "")
    parts.append(f"{told}{end}{said(command)}")
    parts += [f"Option {n}: {quoted(option)}" for n, option in enumerate(one.options, 1)]
    parts += [f"Attachment: {_file(file)}" for file in one.attachments]
    return "\n".join(parts)


def _file(file: File) -> str:
    where = "MISSING" if file.missing else one_line(file.path)
    return f"{one_line(file.name)}, {file.size} bytes: {where}"


def _foot(one: MessageView) -> str:
    if one.kind == "alert" or one.closed:
        return ""
    if one.unanswerable:
        return f"nobody would read a reply: {one.unanswerable}\n"
    answer = "NUMBER" if one.options else "'text'"
    return f"reply: fan mail reply {one.id} {answer}\n"
