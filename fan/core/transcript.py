"""What a transcript's lines say of one turn: the agent's final words after a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from fan.core.compare import at
from fan.core.prompt import same_words
from fan.core.recipe import Entry, Transcript


class Final(Struct, frozen=True):
    """The last words of a turn; `ended`: the transcript says that the turn ended with them."""

    text: str
    ended: bool


def final_words(items: Iterable[Any], how: Transcript, prompt: str) -> Final | None:
    """What the agent said last in the newest turn that began with `prompt`; None where there is no such turn, or
    nothing was said in it."""
    texts: list[str] | None = None
    mark: object = None
    ended = False
    for item in items:
        asked = "\n".join(_texts(item, how.asked))
        if asked:
            if same_words(asked, prompt):
                texts, mark, ended = [], None, False
            elif texts is not None and how.asked and how.asked.closes:
                break
            continue
        if texts is None:
            continue
        said = _texts(item, how.said)
        if said:
            same = mark is not None and _mark(item, how) == mark
            texts, mark = [*texts, *said] if same else said, _mark(item, how)
        if said or (ended and _fits(item, how.said)):
            ended = False
        ended = ended or (_fits(item, how.ended) and (bool(said) or not _fits(item, how.said)))
    return Final("\n\n".join(texts), ended) if texts else None
