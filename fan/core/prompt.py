"""A prompt on its way to a composer: made harmless before it is typed, found again on the screen after."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fan.core.plain import is_text
from fan.core.recipe import Submit
from fan.core.regions import Composer, compiled
from fan.errors import Empty, UsageError

TAIL = 60


class Prepared(Struct, frozen=True):
    """What is typed, and in words how it differs from what was given (empty: only in control characters)."""

    text: str
    guards: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of UTF-8."""
        return len(self.text.encode("utf-8", "surrogatepass"))


def prepare(text: str, submit: Submit, *, command: bool = False) -> Prepared:
    """`text` without control characters (but tab and newline) and closing newlines, guarded as the recipe says.

    A slash command (`command`) goes as it is. Raises Empty when nothing is left, UsageError for what is no UTF-8.
    """
    if not is_text(text):
        raise UsageError("the prompt holds bytes that are not UTF-8", not_done="nothing was sent")
    clean = text.replace("\r\n", "\n").replace("\r", "\n")
    clean = "".join(char for char in clean if char in "\t\n" or not _is_control(char)).rstrip("\n")
    if not clean.strip():
        raise Empty("the prompt is empty: it says nothing to do", not_done="nothing was sent")
    if command:
        return Prepared(clean, ())
    guards = []
    for guard in submit.guards:
        if compiled(guard.match).search(clean):
            clean = guard.add + clean if guard.at == "start" else clean + guard.add
            guards.append(guard.why)
    return Prepared(clean, tuple(guards))


def pointer(path: str) -> str:
    """The one line that stands for a prompt too large to paste."""
    return f"Read the file {path} in this folder: it is your whole task, word for word."


Echo = Literal["ours", "mixed", "none"]


def echo(composer: Composer | None, typed: str, submit: Submit) -> Echo:
    """Whether what stands in the composer is our text alone, ours beside somebody's draft, or not ours.

    Letters and digits decide: agents reflow white space and a terminal may draw symbols otherwise. A box that
    scrolls shows only the end.
    """
    if composer is None or not composer.text:
        return "none"
    shown, ours = _letters(composer.text, typed), _letters(typed, typed)
    if shown == ours or (len(shown) >= min(TAIL, len(ours)) and ours.endswith(shown)):
        return "ours"
    if shown.endswith(ours[-TAIL:]):
        return "mixed"
    for pattern in submit.stubs:
        rest, count = compiled(pattern).subn("", " ".join(composer.text.split()))
        if count:
            return "ours" if count == 1 and not rest.strip() else "mixed"
    return "none"


def same_words(told: str, typed: str) -> bool:
    """Whether the prompt that an agent says it took is the one that was typed."""
    return bool(told) and _letters(told, typed) == _letters(typed, typed)


def _letters(text: str, typed: str) -> str:
    """The letters and digits of `text`; all its visible characters where `typed` has hardly any letters."""
    if sum(char.isalnum() for char in typed) >= 3:
        return "".join(char for char in text if char.isalnum())
    return "".join(text.split())


def _is_control(char: str) -> bool:
    code = ord(char)
    return code < 0x20 or 0x7F <= code < 0xA0
