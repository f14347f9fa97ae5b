"""What a transcript's lines say of one turn: the agent's final words after a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from fan.core.compare import at
from fan.core.prompt import same_words
from fan.core.recipe_parts import Entry, Owner, Transcript


class Final(Struct, frozen=True):
    """The last words of a turn; `ended`: the transcript says that the turn ended with them."""

    text: str
    ended: bool


def final_words(items: Iterable[Any], how: Transcript, prompt: str) -> Final | None:
    """What was said last in the newest turn that began with `prompt`; None where it is not there, or silent."""
    texts: list[str] = []
    message, ended = None, False
    for item in turn(items, how, prompt):
        said, is_said = _texts(item, how.said), fits(item, how.said)
        if said:
            same = message is not None and at(item, how.message) == message
            texts, message = [*texts, *said] if same else said, at(item, how.message)
        if is_said:
            ended = False  # a thought or the use of a tool: the last words are still to come
        if fits(item, how.ended) and (said or not is_said):
            ended = True
    return Final("\n\n".join(texts), ended) if texts else None


def turn(items: Iterable[Any], how: Transcript, prompt: str) -> list[Any]:
    """The items of the newest turn that began with `prompt`, from behind it to the next prompt."""
    found: list[Any] = []
    is_within = False
    for item in items:
        asked = _texts(item, how.asked)
        if asked:
            is_own = same_words("\n".join(asked), prompt)
            found, is_within = [] if is_own else found, is_own
        elif is_within:
            found.append(item)
    return found


def fits(item: Any, entry: Entry | Owner | None) -> bool:
    """Whether an item is of this kind."""
    return entry is not None and all(at(item, key) == value for key, value in entry.where.items())


def marks(entries: Iterable[Entry | None]) -> list[str]:
    """For each kind a text that every line of it holds: only such lines need to be read."""
    found = []
    for entry in entries:
        texts = [value for value in entry.where.values() if isinstance(value, str)] if entry else []
        found += [f'"{max(texts, key=len)}"'] if texts else []
    return found


def _texts(item: Any, entry: Entry | None) -> list[str]:
    if entry is None or not fits(item, entry):
        return []
    return [text for path in entry.text for text in _below(item, path.split(".")) if text.strip()]


def _below(item: Any, keys: list[str]) -> Iterator[str]:
    """The texts under these keys; of a list, those of each of its items."""
    if isinstance(item, list):
        for one in item:
            yield from _below(one, keys)
    elif not keys:
        if isinstance(item, str):
            yield item
    elif isinstance(item, dict):
        yield from _below(item.get(keys[0]), keys[1:])
