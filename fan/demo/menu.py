"""Dialogs: a question with marked answers, and a word to type. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from fan.demo.keys import Event, Key, Text
from fan.demo.text import POINTER

RULE = "─"


@dataclass(slots=True)
class Menu:
    """Answers to choose from with arrows and Enter or a digit; `on_escape` is the answer of Esc."""

    question: tuple[str, ...]
    answers: tuple[str, ...]
    on_escape: int | None = None
    marked: int = 0

    def on(self, event: Event) -> int | None:
        """The index of the answer that `event` settles, or None. Other keys and pastes do nothing."""
        match event:
            case Key("up" | "down" as way):
                self.marked = (self.marked + (1 if way == "down" else -1)) % len(self.answers)
            case Key("enter"):
                return self.marked
            case Key("esc"):
                return self.on_escape
            case Text(text) if text in map(str, range(1, len(self.answers) + 1)):
                return int(text) - 1
            case _:
                pass
        return None

    def rows(self) -> list[str]:
        """What stands under the rule."""
        answers = [
            f" {POINTER if index == self.marked else ' '} {index + 1}. {answer}"
            for index, answer in enumerate(self.answers)
        ]
        return [*(f" {line}" for line in self.question), "", *answers, "", " Enter to confirm"]


@dataclass(slots=True)
class Login:
    """Wants the word `login` and Enter; nothing else helps."""

    typed: str = ""
    refused: bool = field(default=False)

    def on(self, event: Event) -> int | None:
        """0 once the word has been given."""
        match event:
            case Text(text):
                self.typed += text
            case Key("backspace"):
                self.typed = self.typed[:-1]
            case Key("enter"):
                if self.typed == "login":
                    return 0
                self.refused, self.typed = bool(self.typed), ""
            case _:
                pass
        return None

    def rows(self) -> list[str]:
        """What stands under the rule."""
        note = " That was not it." if self.refused else ""
        return [
            " Log in to demo",
            "",
            " You are not logged in.",
            "",
            f" Type login and Enter: {self.typed}",
            note,
        ]


Dialog = Menu | Login
