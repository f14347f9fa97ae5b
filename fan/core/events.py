"""What has happened, numbered; and what a reader has missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct


class Event(Struct, frozen=True):
    """`kind` is `state`, `exit`, `delivery`, `message` or `session`; `what` and `detail` say which state and kind,
    which status and delivery, which kind of message and its id, what was done to which session.

    A `gap` stands for events up to `seq` that are no longer kept: `what` says how many.
    """

    seq: int
    at: float
    kind: str
    member: str
    what: str
    detail: str


def gaps_told(events: Iterable[Event], after: int) -> Iterator[Event]:
    """The events behind number `after`, each hole between them told as a gap."""
    for event in events:
        missing = event.seq - after - 1
        if missing > 0:
            yield Event(event.seq - 1, event.at, "gap", "", str(missing), "")
        yield event
        after = event.seq
