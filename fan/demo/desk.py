"""What a run of the demo knows and tells: its folder, session, transcript, reports and footer."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fan.demo import home
from fan.demo.behaviours import Behaviours
from fan.demo.hooks import Reporter
from fan.demo.text import visible
from fan.demo.transcript import Transcript

FOOTER = "? for help"


@dataclass(slots=True)
class Desk:
    """One session. `footer` is what stands under the composer at rest, `topic` what the title says."""

    folder: Path
    home: Path
    behaviours: Behaviours
    model: str
    transcript: Transcript
    reporter: Reporter
    footer: str = FOOTER
    topic: str = "new session"
    turns: int = 0
    asked: bool = False
    turn: str = field(default="")
    read: int = 0

    @property
    def place(self) -> str:
        """The folder as a person writes it."""
        person = Path.home()
        return f"~/{self.folder.relative_to(person)}" if person in self.folder.parents else str(self.folder)

    def begin(self, prompt: str) -> None:
        """A prompt was submitted: a turn of its own id starts."""
        self.turn = uuid.uuid4().hex[:8]
        self.turns += 1
        self.topic = topic(prompt)
        self.footer = FOOTER
        self.read = len(prompt.split())
        self.transcript.add("user", self.turn, prompt)
        self.reporter.report("working", "UserPromptSubmit", prompt=prompt)

    def end(self, answer: str, *, state: str = "rest", event: str = "Stop", kind: str = "") -> None:
        """The turn is over, with these last words."""
        tokens = {"input": self.read, "output": len(answer.split())}
        self.transcript.add("assistant", self.turn, answer, tokens=tokens)
        self.transcript.add("turn_end", self.turn, "")
        self.reporter.report(state, event, kind=kind)


def open_desk(environ: Mapping[str, str], behaviours: Behaviours, session: str, model: str) -> Desk:
    """The desk of `session`, in the current folder."""
    place = home.folder(environ)
    transcript = Transcript(place / "sessions" / f"{session}.jsonl")
    reporter = Reporter(environ, session, transcript.path)
    return Desk(Path.cwd(), place, behaviours, model, transcript, reporter)


def topic(prompt: str) -> str:
    """The first words of a prompt's task, as a title and a commit subject take them."""
    task = prompt.partition("\nTask:\n")[2] or prompt
    words = visible(" ".join(task.split()[:5]))
    return words[:40] or "untitled"
