"""Asks in flight: who waits for whom, and what an asked agent is told of its asker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from fan.core.mail import LARGEST_BODY
from fan.core.plain import one_line

CUT = "\n[cut: the whole text has {} bytes]"


class Ask(Struct, frozen=True):
    """One ask in flight. `asker` is a member's id or the word for what the caller is, `target` a member's id.

    It lasts as long as the asker's process, `pid`, does. `delivery` is 0 until its text is queued.
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


def _way(came_from: Mapping[str, str], asker: str, target: str) -> list[str]:
    way = [asker]
    while way[-1] != target:
        way.append(came_from[way[-1]])
    return [asker, *reversed(way)]
