"""The stash's rules: what may be kept, what has to go for it, and what a kept file is called."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

LARGEST_FILE = 16 * 1024 * 1024
LARGEST_ROOM = 256 * 1024 * 1024
LONGEST_NAME = 80
SHORTEST_ID = 4
PLAIN_ROOM = re.compile(r"[a-z0-9]{1,32}")


class Stashed(Struct, frozen=True):
    """One kept file of a room: the sha256 and the number of its bytes, the name its giver called it by."""

    room: str
    sha256: str
    name: str
    size: int
    at: float


def safe_name(name: str) -> str:
    """A file name of ours that reads like `name`: ASCII letters, digits, `.`, `_`, `-`; no leading dot or hyphen."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip("._-")
    stem, dot, ending = plain.rpartition(".")
    if not dot or len(ending) > LONGEST_NAME // 4:
        return plain[:LONGEST_NAME] or "file"
    return f"{stem[: LONGEST_NAME - len(ending) - 1] or 'file'}.{ending}" if ending else plain[:LONGEST_NAME]


def folder_of(room: str) -> str:
    """The name of a room's folder: a group's id or `human` as it stands, anything else by its digest."""
    if PLAIN_ROOM.fullmatch(room):
        return room
    from hashlib import sha256  # OpenSSL: 5 ms that every start would pay

    return f"room-{sha256(room.encode()).hexdigest()[:24]}"


def evicted(kept: Sequence[Stashed], pointed: Collection[str], size: int) -> list[Stashed] | None:
    """Which of those `kept` (oldest first) go so that `size` more bytes fit; None where too few may go.

    What is `pointed` at, by sha256, stays.
    """
    excess = sum(one.size for one in kept) + size - LARGEST_ROOM
    going: list[Stashed] = []
    for one in kept:
        if excess <= 0:
            break
        if one.sha256 not in pointed:
            going.append(one)
            excess -= one.size
    return going if excess <= 0 else None
