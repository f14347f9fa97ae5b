"""How an answer goes over the wire: server-sent events, with pauses."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.agents.fake_model.request import Request
from tests.agents.fake_model.script import Act, Call, Say

Chunk = tuple[str, float] | None
"""Text to write and seconds to wait after it; None cuts the connection."""


@dataclass(frozen=True)
class Failure:
    """An HTTP error as the APIs word it."""

    code: int
    kind: str
    message: str


class Dialect(Protocol):
    """One API's way to answer."""

    def whole(self, request: Request, text: str, calls: Sequence[Call]) -> dict[str, Any]:
        """The answer in one piece."""
        ...

    def stream(self, request: Request, acts: Sequence[Act]) -> Iterator[Chunk]:
        """The answer as server-sent events."""
        ...


def sse(data: object, event: str = "") -> str:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {event}\n" if event else "") + f"data: {text}\n\n"


def new_id(prefix: str) -> str:
    """An identifier of the kind that APIs give."""
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def text_in(acts: Sequence[Act]) -> str:
    """All that is said."""
    return "".join(act.text for act in acts if isinstance(act, Say))


def calls_in(acts: Sequence[Act]) -> list[Call]:
    """All tools that are called."""
    return [act for act in acts if isinstance(act, Call)]
