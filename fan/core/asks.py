"""Asks in flight: who waits for whom, and what an asked agent is told of its asker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from fan.core.caller import Who
from fan.core.mail import HUMAN, LARGEST_BODY, Message, MessageKind, speaks_for
from fan.core.plain import one_line
from fan.core.transcript import Final

CUT = "\n[cut: the whole text has {} bytes]"
SILENT = "(it said nothing)"
UNFINISHED = "\n[its turn did not end with these words]"


class Ask(Struct, frozen=True):
    """One ask in flight. `asker` is a member's id or the word for what the caller is, `target` a member's id.

    The asker waits as long as its process, `pid`, lives; 0: no more. `delivery` is 0 until its text is queued.
    """

    id: str
    asker: str
    target: str
    delivery: int
    pid: int
    pid_started: float
    at: float


def cycle(edges: Iterable[tuple[str, str]], asker: str, target: str) -> list[str]:
    """The round that `asker` would close by waiting for `target`: from the asker back to itself; empty if none.

    An edge is (who waits, for whom). The shortest round is told.
    """
    waits_for: dict[str, list[str]] = {}
    for one, other in edges:
        waits_for.setdefault(one, []).append(other)
    came_from = {target: asker}
    ahead = [target]
    for one in ahead:
        if one == asker:
            return _way(came_from, asker, target)
        for other in waits_for.get(one, ()):
            if other not in came_from:
                came_from[other] = one
                ahead.append(other)
    return []


def told(way: Sequence[str], names: Mapping[str, str]) -> str:
    """A round in words: `a waits for b, b waits for a`."""
    named = [names.get(one, one) for one in way]
    return ", ".join(f"{one} waits for {other}" for one, other in pairwise(named))


def introduced(text: str, author: str, verified: str) -> str:
    """An agent's text as another agent is given it: first a line that says whose it is."""
    return f"[fan: from {one_line(author)}, another agent (verified: {verified}), not your operator]\n{text}"


def for_record(text: str) -> str:
    """The text as a message can hold it: cut, with a note, where it is longer."""
    data = text.rstrip().encode("utf-8", "replace")
    if len(data) <= LARGEST_BODY:
        return data.decode()
    note = CUT.format(len(data))
    return data[: LARGEST_BODY - len(note)].decode("utf-8", "ignore") + note


def answer(question: Message, text: str, message_id: str, at: float) -> Message:
    """What was said to a question, in its thread; its asker has it, so that it is read."""
    return Message(
        seq=0,
        id=message_id,
        room=question.room,
        inbox=question.sender,
        recipient=question.author,
        sender=question.inbox,
        author=question.recipient,
        verified="process",
        thread=question.thread,
        body=for_record(text) or SILENT,
        at=at,
        kind=MessageKind.ANSWER,
        reply_to=question.id,
        about=question.about,
        read_at=at,
    )


def late(found: Message) -> Message:
    """An answer that its asker did not wait for, as mail to them: unread, and the person's where a script asked.

    An agent that is none of ours has no inbox; it finds the answer in the thread.
    """
    if speaks_for(found.inbox, HUMAN):
        return replace(found, inbox=HUMAN, room=HUMAN, read_at=None)
    return found if found.inbox == Who.AGENT else replace(found, read_at=None)


def late_words(found: Final | None, *, is_gone: bool) -> str:
    """What counts as a late answer; the words so far of an agent that left in the middle of its turn do not."""
    if found is None or (is_gone and not found.ended):
        return ""
    return found.text if found.ended else found.text + UNFINISHED


def _way(came_from: Mapping[str, str], asker: str, target: str) -> list[str]:
    way = [asker]
    while way[-1] != target:
        way.append(came_from[way[-1]])
    return [asker, *reversed(way)]
