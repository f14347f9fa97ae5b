"""Whether an agent at rest is told that mail has come: once for many, never again for the same."""

from __future__ import annotations

from collections.abc import Sequence

from fan.core.mail import Message
from fan.core.model import Delivery, Kind, State, Status
from fan.core.plain import one_line

NAMED = 3
READ = "its mail was read meanwhile"


def line(unread: Sequence[Message], last: Delivery | None, now: float, every: float) -> str:
    """The line to be typed, or nothing. `last` is the last such line to this agent, `every` their least distance."""
    if last and (last.status is Status.PENDING or now < last.created_at + every):
        return ""
    new = untold(unread, last)
    if not new:
        return ""
    authors = list(dict.fromkeys(one_line(message.author) for message in new))
    named = ", ".join(authors[:NAMED]) + (" and others" if len(authors) > NAMED else "")
    count = "a new message" if len(new) == 1 else f"{len(new)} new messages"
    return f"[fan] You have {count} from {named}. Read with: fan mail read --unread"


def untold(unread: Sequence[Message], last: Delivery | None) -> list[Message]:
    """Those that no line has told of yet."""
    until = last.pasted_at if last and last.status is Status.SENT and last.pasted_at is not None else 0.0
    return [message for message in unread if message.at > until]


def may_be_told(state: State, kind: str) -> bool:
    """Whether the agent has nothing else to do: it rests, or has asked something with its composer open."""
    return state is State.REST or kind == Kind.QUESTION
