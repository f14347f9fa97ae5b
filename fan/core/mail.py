"""Messages: what may be sent, where one belongs, what has to go for it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from fan.core.plain import UNSEEN, is_text
from fan.errors import Empty, TooLarge, UsageError

HUMAN = "human"
LOOKALIKES = (
    "h\u04bb\u043d\u03b7\u0570\u029c",
    "u\u03c5\u057d\u0446\u1d1c\u028b",
    "m\u043c\u03bc\u1d0d\u028d",
    "a\u0430\u03b1\u0251\u1d00",
    "n\u0578\u043f\u03b7\u03bd\u0274",
)
"""The letters of that name, each with those of other alphabets that look like it, in lower case."""
LARGEST_BODY = 8 * 1024
LONGEST_SUBJECT = 120
LONGEST_CLAIM = 60
LONGEST_KEY = 200
MOST_ATTACHMENTS = 8
RING = 256
RING_BYTES = 512 * 1024
BURST = 10
PER_SECOND = 0.5
"""Sends back to back, and how fast these come again: 30 a minute."""


class MessageKind(StrEnum):
    """What a message is: mail, an ask or its answer, a question for the person, what the courier tells them."""

    MAIL = "mail"
    ASK = "ask"
    ANSWER = "answer"
    QUESTION = "question"
    ALERT = "alert"


class Attachment(Struct, frozen=True):
    """A file handed over: its own name, where its bytes lie, their sha256 and number."""

    name: str
    path: str
    sha256: str
    size: int


class Message(Struct, frozen=True):
    """One note. `inbox` is the address it lies at, `recipient` its name; `sender` the address of who wrote it,
    `author` its name; `claim` is who it says it is. `room` holds it, `about` is the member it speaks of.

    Times are None until it has happened: woken (told of), read, answered, closed. `options` and `until` belong to a
    question: the answers offered, and when its asker stops waiting.
    """

    seq: int
    id: str
    room: str
    inbox: str
    recipient: str
    sender: str
    author: str
    verified: str
    thread: str
    body: str
    at: float
    kind: MessageKind = MessageKind.MAIL
    claim: str = ""
    subject: str = ""
    reply_to: str = ""
    reply_to_missing: bool = False
    key: str = ""
    about: str = ""
    attachments: tuple[Attachment, ...] = ()
    options: tuple[str, ...] = ()
    until: float | None = None
    woken_at: float | None = None
    read_at: float | None = None
    answered_at: float | None = None
    closed_at: float | None = None

    @property
    def size(self) -> int:
        """What it takes of its room, in bytes of UTF-8."""
        return len(self.body.encode()) + len(self.subject.encode())


def checked(message: Message) -> Message:
    """The message as it may be stored. Raises Empty, TooLarge, UsageError."""
    body = message.body.rstrip()
    if not body.strip() and not message.attachments:
        raise Empty("the message is empty", not_done="nothing was sent", hint="fan mail send TO 'text'")
    if not is_text(body + message.subject + message.claim + message.key):
        raise UsageError("the message holds bytes that are not UTF-8", not_done="nothing was sent")
    size = len(body.encode())
    if size > LARGEST_BODY:
        raise TooLarge(
            f"the message has {size} bytes, {LARGEST_BODY} is the most",
            not_done="nothing was sent",
            hint="fan mail send TO 'see the file' --attach FILE",
        )
    if len(message.subject) > LONGEST_SUBJECT:
        raise TooLarge(
            f"the subject has {len(message.subject)} characters, {LONGEST_SUBJECT} is the most",
            not_done="nothing was sent",
        )
    if len(message.attachments) > MOST_ATTACHMENTS:
        raise TooLarge(
            f"{len(message.attachments)} attachments, {MOST_ATTACHMENTS} is the most", not_done="nothing was sent"
        )
    if len(message.claim) > LONGEST_CLAIM or len(message.key) > LONGEST_KEY:
        raise TooLarge(f"--from takes {LONGEST_CLAIM} characters, --key {LONGEST_KEY}", not_done="nothing was sent")
    return replace(message, body=body)


def all_checked(messages: Sequence[Message]) -> list[Message]:
    """The copies of one note as they may be stored: none may push another out of their room. Raises as `checked`."""
    found = [checked(message) for message in messages]
    if overflow([message.size for message in found]):
        raise TooLarge(
            f"{len(found)} copies of this message are more than their room holds",
            not_done="nothing was sent",
            hint="fan mail send TO 'see the file' --attach FILE",
        )
    return found


def names_person(claim: str) -> bool:
    """Whether a reader would take this name for the person's, whatever letters it is written with."""
    letters = unicodedata.normalize("NFKD", claim).casefold()
    shown = "".join(char for char in letters if char not in UNSEEN and unicodedata.category(char)[0] not in "MC")
    return any(_reads_human(word) for word in re.findall(r"[^\W\d_]+", shown.replace("rn", "m")))


def _reads_human(word: str) -> bool:
    """Letter by letter the same or alike; among letters of ours, any foreign one is there to look alike."""
    is_mixed = any(char.isascii() for char in word)
    return len(word) == len(LOOKALIKES) and all(
        char in alike or (is_mixed and not char.isascii()) for char, alike in zip(word, LOOKALIKES, strict=True)
    )


def speaks_for(sender: str, inbox: str) -> bool:
    """Whether the owner of this inbox is who sends: the person's scripts speak for them."""
    return sender == inbox or (inbox == HUMAN and sender == "script")


def answered_to(message: Message, address: str) -> str:
    """To which inbox a reply goes: who wrote it, or, where whoever has this address did, where it lies."""
    me = HUMAN if speaks_for(address, HUMAN) else address
    other = message.inbox if speaks_for(message.sender, me) else message.sender
    return HUMAN if speaks_for(other, HUMAN) else other


def answers(message: Message, parent: Message) -> bool:
    """Whether this is the answer to `parent`: from whoever it lay with, who is known to be that, to who wrote it."""
    if not (speaks_for(message.sender, parent.inbox) and speaks_for(parent.sender, message.inbox)):
        return False
    return parent.inbox == HUMAN or message.verified != "none"


def threaded(message: Message, parent: Message | None, evicted: str = "") -> Message:
    """The message in its thread: its own, its parent's, or that of a parent that has been `evicted`."""
    if parent:
        return replace(message, thread=parent.thread, subject=message.subject or parent.subject)
    if evicted:
        return replace(message, thread=evicted, reply_to_missing=True)
    return message if message.thread else replace(message, thread=message.id)


def charged(allowance: float, passed: float) -> float | None:
    """What a sender may still send after this one, `passed` seconds after the last; None: not this one."""
    now = min(float(BURST), allowance + max(passed, 0.0) * PER_SECOND)
    return now - 1.0 if now >= 1.0 else None


def overflow(sizes: Sequence[int]) -> int:
    """How many of a room's messages, the oldest first, have to go, the newest of these `sizes` just stored."""
    total, count = sum(sizes), len(sizes)
    gone = 0
    while count - gone > RING or total > RING_BYTES:
        total -= sizes[gone]
        gone += 1
    return gone
