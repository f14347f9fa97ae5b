"""Bytes from a terminal as events. Pure."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_PASTE_START = b"\x1b[200~"
_PASTE_END = b"\x1b[201~"
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O\x1b])", re.DOTALL)
_NAMED = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"\x1b[C": "right",
    b"\x1bOC": "right",
    b"\x1b[D": "left",
    b"\x1bOD": "left",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x1b\r": "newline",
}
_CONTROL = {
    0x01: "home",
    0x03: "ctrl-c",
    0x04: "ctrl-d",
    0x05: "end",
    0x08: "backspace",
    0x0A: "newline",
    0x0D: "enter",
    0x15: "kill",
    0x7F: "backspace",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key that is not text, by name; `unknown` for what has no name here."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """Typed characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Paste:
    """What stood between the brackets of a bracketed paste, line ends as line feeds."""

    text: str


Event = Key | Text | Paste


class Decoder:
    """Turns reads of any size into events; what is incomplete waits for the next read."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def lone_escape(self) -> bool:
        """Whether an ESC waits: the key itself if nothing follows soon, else a sequence's start."""
        return bytes(self._rest[:1]) == b"\x1b" and not self._rest.startswith(_PASTE_START)

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes, in order."""
        self._rest += data
        events: list[Event] = []
        while self._rest and (step := self._next()):
            used, event = step
            del self._rest[:used]
            if event:
                events.append(event)
        return events

    def settle(self) -> list[Event]:
        """What waits is all there is: a waiting ESC is the Esc key, the rest is read anew."""
        if not self.lone_escape:
            return []
        del self._rest[:1]
        return [Key("esc"), *self.feed(b"")]

    def _next(self) -> tuple[int, Event | None] | None:
        if self._rest[0] == 0x1B:
            return self._escape()
        if self._rest[0] < 0x20 or self._rest[0] == 0x7F:
            return 1, Key(_CONTROL.get(self._rest[0], "unknown"))
        end = next((i for i, byte in enumerate(self._rest) if byte < 0x20 or byte == 0x7F), len(self._rest))
        text = self._utf8.decode(bytes(self._rest[:end]))
        return end, Text(text) if text else None

    def _escape(self) -> tuple[int, Event | None] | None:
        if self._rest.startswith(_PASTE_START):
            end = self._rest.find(_PASTE_END)
            if end < 0:
                return None
            text = self._rest[len(_PASTE_START) : end].decode("utf-8", "replace")
            return end + len(_PASTE_END), Paste(text.replace("\r\n", "\n").replace("\r", "\n"))
        found = _SEQUENCE.match(self._rest)
        if not found:
            return None
        return found.end(), Key(_NAMED.get(found.group(), "unknown"))
