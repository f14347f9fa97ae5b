"""What a member in a sandbox may have done for it: a command line in a file, and the answer in another."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from fan.errors import Conflict, NotAllowed

LARGEST_REQUEST = 512 * 1024
LARGEST_ANSWER = 20 * 1024 * 1024
REQUEST = re.compile(r"([0-9a-f]{16})\.(request|taken)")
FORWARDED = frozenset({"mail", "wait", "stash", "skill", "report", "events", "ask", "ls"})
"""Verbs that need the store: where it is out of reach, the courier is asked."""
WITHHELD = frozenset(
    {
        *("N", "attach", "keep", "rm", "undo", "compare", "diff", "verify", "send", "why", "resume", "demo"),
        *("worktree", "group", "archive"),
    }
)
"""Verbs that need it too, and are not for a member in a sandbox: it is told so without asking."""
NOT_APPROVED = ("config", "approve")
ALLOWED = frozenset(
    {
        ("mail", "send"),
        ("mail", "read"),
        ("mail", "reply"),
        ("mail", "ls"),
        ("mail", "ask-human"),
        ("stash", "put"),
        ("stash", "get"),
        ("stash", "ls"),
        ("wait",),
        ("skill",),
        ("events",),
        ("report",),
        ("ls",),
    }
)
SENDING = frozenset({("mail", "send"), ("mail", "reply")})
DONE_ONCE = frozenset({("mail", "ask-human")})
"""What cannot be done again without being doubled."""
ENDLESS = frozenset({"--follow", "--watch"})


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """A command line without the program's name, the folder it was given in, and its standard input."""

    words: tuple[str, ...]
    cwd: str
    stdin: str = ""


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """What the command line printed, and its exit code."""

    code: int
    stdout: bytes
    stderr: bytes


def is_withheld(words: Sequence[str]) -> bool:
    """Whether this needs the store and is nothing that the courier does for a member in a sandbox."""
    return bool(WITHHELD.intersection(words[:1])) or tuple(words[:2]) == NOT_APPROVED


def refusal(words: Sequence[str]) -> NotAllowed:
    """That this is nothing for a member in a sandbox."""
    options = words[: words.index("--")] if "--" in words else words
    endless = [word for word in options if word in ENDLESS]
    named = " ".join(["fan", *words[:1], *(endless[:1] or [word for word in words[1:2] if not word.startswith("-")])])
    return NotAllowed(
        f"`{named}` is not run for a member in a sandbox",
        not_done="nothing was done",
        hint="fan mail send human 'what you need and why'",
    )


def permitted(words: Sequence[str], request_id: str, *, again: bool = False) -> list[str]:
    """The words to run; a send gets the request's id as its key, so that it is sent once. Raises NotAllowed.

    One that was broken off and cannot be done `again` raises Conflict.
    """
    noun, two = tuple(words[:1]), tuple(words[:2])
    options = words[: words.index("--")] if "--" in words else words
    if (noun not in ALLOWED and two not in ALLOWED) or ENDLESS.intersection(options):
        raise refusal(words)
    if again and two in DONE_ONCE:
        raise Conflict(
            "the courier was interrupted at this", not_done="it was not done a second time", hint="fan mail ls"
        )
    if two in SENDING and not any(word == "--key" or word.startswith("--key=") for word in options):
        return [*two, "--key", f"request-{request_id}", *words[2:]]
    return list(words)
