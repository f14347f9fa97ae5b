"""The parts of a recipe that stand by themselves: its sandbox; how an agent's transcript is found and read."""

from __future__ import annotations

import msgspec


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A strict, immutable table of a recipe."""


class Sandbox(_Part, frozen=True):
    """How an agent that keeps its commands in a sandbox is told at launch that they may write to `{requests}`, the
    member's folder for what the courier is to do for it; it is escaped as between the quotes of a JSON string."""

    arguments: list[str]

    def contradictions(self) -> list[tuple[str, str]]:
        """What is well-formed but makes no sense, with its key."""
        if any("{requests}" in word for word in self.arguments):
            return []
        return [("sandbox.arguments", "no argument holds `{requests}`, the folder to be opened")]


class TokenCounts(_Part, frozen=True):
    """Where a line of the transcript tells numbers of tokens: keys joined by dots, added up.

    `input` was read anew, `cached` read from the model's cache, `output` written. Lines that agree in what stands
    at `message` tell of one answer: the last one counts.
    """

    message: str = ""
    input: list[str] = []
    cached: list[str] = []
    output: list[str] = []


class Entry(_Part, frozen=True):
    """Lines of one kind: all keys of `where` (joined by dots) hold these values. `text` are keys of its words; a list
    on the way stands for each of its items."""

    where: dict[str, str | bool]
    text: list[str] = []


class Owner(_Part, frozen=True):
    """The first line of a transcript that no hook leads to: the keys of the folder its agent stands in, and of the
    conversation that it can be resumed by."""

    where: dict[str, str | bool]
    folder: str
    conversation: str = ""


class Transcript(_Part, frozen=True):
    """How the file of JSON lines is read that `hooks.transcript` leads to, or that is among `files` (a pattern, from
    `~`) and names the member's folder in its first line.

    `asked` are prompts, `said` the agent's words, `ended` what comes with or after a turn's last ones. Lines of
    `said` that agree in what stands at `message` are one answer.
    """

    files: str = ""
    owner: Owner | None = None
    asked: Entry | None = None
    said: Entry | None = None
    ended: Entry | None = None
    message: str = ""
    tokens: TokenCounts = TokenCounts()


def contradictions(how: Transcript, *, has_hook: bool) -> list[tuple[str, str]]:
    """What is well-formed but makes no sense, with its key."""
    found = []
    if bool(how.files) != (how.owner is not None):
        found.append(("transcript.files", "`files` and `owner` go together"))
    if not how.files and not has_hook:
        found.append(
            ("transcript", "it needs `hooks.transcript`, the key that tells where the file lies, or `files`")
        )
    if (how.asked is None) != (how.said is None):
        found.append(("transcript.said", "`asked` and `said` go together"))
    for name, entry in {"asked": how.asked, "said": how.said, "ended": how.ended}.items():
        if entry and not any(isinstance(value, str) for value in entry.where.values()):
            found.append((f"transcript.{name}.where", "it needs a text, by which its lines are found"))
    return found
