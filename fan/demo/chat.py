"""The composer with its list of commands: what keys mean while a prompt is written. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.demo.composer import Composer
from fan.demo.keys import Event, Key

COMMANDS = {"/help": "show what the keys do", "/exit": "leave the demo"}


@dataclass(frozen=True, slots=True)
class Submit:
    """The person wants this prompt worked on."""

    prompt: str


@dataclass(frozen=True, slots=True)
class Command:
    """The person picked a command; `name` may be none of ours."""

    name: str


@dataclass(slots=True)
class Chat:
    """A composer; a leading slash opens the list, and Enter then picks from it."""

    composer: Composer = field(default_factory=Composer)
    marked: int = 0

    @property
    def listed(self) -> list[str]:
        """The commands that the draft may become, none when it is not one word with a slash."""
        text = self.composer.text
        if not text.startswith("/") or any(char.isspace() for char in text):
            return []
        return [name for name in COMMANDS if name.startswith(text)]

    def on(self, event: Event) -> Submit | Command | None:
        """Edits the draft, or says what Enter made of it."""
        listed = self.listed
        match event:
            case Key("enter"):
                return self._enter(listed)
            case Key("up" | "down" as way) if listed:
                self.marked = (self.marked + (1 if way == "down" else -1)) % len(listed)
            case _:
                self.composer.on(event)
                self.marked = 0
        return None

    def _enter(self, listed: list[str]) -> Submit | Command | None:
        if listed:
            self.composer.take()
            return Command(listed[self.marked % len(listed)])
        if self.composer.continue_line() or not self.composer.text.strip():
            return None
        text = self.composer.take()
        return Command(text.split()[0]) if text.startswith("/") else Submit(text)
