"""How words reach tmux unchanged: its argument lists, its command lines and its formats differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Command = Sequence[str]


def arguments(commands: Iterable[Command]) -> list[str]:
    """The argument list of a tmux client for several commands in order."""
    words: list[str] = []
    for command in commands:
        if words:
            words.append(";")
        words.extend(_argument(word) for word in command)
    return words


def line(command: Command) -> str:
    """One command as a line of tmux's own language, for a control connection or a nested command."""
    return " ".join(_quoted(word) for word in command)


def literal(text: str) -> str:
    """Text for an option that tmux expands as a format, such as a folder or a session name."""
    return text.replace("#", "##")


def session_name(name: str) -> str:
    """A name that tmux keeps as it is: runs of anything but letters, digits, `_` and `-` become one `-`."""
    return re.sub(r"[^\w-]+", "-", name)


def _argument(word: str) -> str:
    # A last ';' separates commands unless a backslash stands before it.
    return word[:-1] + "\\;" if word.endswith(";") else word


def _quoted(word: str) -> str:
    # Single quotes keep everything but themselves; a line cannot hold a line feed.
    escaped = word.replace("'", "'\\''").replace("\n", "'\"\\n\"'")
    return f"'{escaped}'"
