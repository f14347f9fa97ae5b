"""The loop: what woke us, what it means, what stands on the screen."""

from __future__ import annotations

import subprocess
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from fan.demo import draw
from fan.demo.chat import COMMANDS, Chat, Command, Submit
from fan.demo.desk import Desk
from fan.demo.draw import Entry, Frame
from fan.demo.keys import Decoder, Event, Key
from fan.demo.menu import Dialog
from fan.demo.screen import Screen
from fan.demo.script import Ask, Do, Face, Pause, Quit, Script, Show, Step, startup, turn
from fan.demo.terminal import Terminal, Wake
from fan.demo.text import visible

SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPIN_SECONDS = 0.25
ESCAPE_SECONDS = 0.05
EXIT_SECONDS = 2.0
DRAIN_SECONDS = 2.0
HELP = "Enter sends · \\ and Enter is a new line · Esc interrupts · Ctrl-C twice leaves · / lists commands"


class App:
    """Plays the start, then a turn for every prompt, until `code` is an exit code."""

    def __init__(self, terminal: Terminal, desk: Desk) -> None:
        self.code: int | None = None
        self._terminal = terminal
        self._desk = desk
        self._screen = Screen(terminal.write, terminal.size)
        self._decoder = Decoder()
        self._chat = Chat()
        self._face = Face.BLANK
        self._dialog: Dialog | None = None
        self._script: Script | None = None
        self._working_since: float | None = None
        self._due: float | None = None
        self._job: Future[str] | None = None
        self._queue: deque[str] = deque()
        self._exit_armed = 0.0
        self._escape_due = 0.0
        self._words = ""
        self._workers = ThreadPoolExecutor(max_workers=1)

    def run(self) -> int:
        """The exit code; the screen is left as a shell expects it."""
        self._play(startup(self._desk))
        while self.code is None:
            self._paint()
            self._handle(self._terminal.wait(self._patience(), deaf=self._face is Face.BLANK and not self._dialog))
        if self._script:
            self._script.close()
        self._screen.leave(self._words)
        self._desk.reporter.report("exited", "SessionEnd")
        self._desk.reporter.drain(DRAIN_SECONDS)
        return self.code

    def _handle(self, wake: Wake) -> None:
        now = time.monotonic()
        self._desk.reporter.pump()
        if wake.ended:
            self.code = 128 + wake.ended
            return
        if wake.resized:
            self._screen.resize(self._terminal.size, self._frame)
        for event in self._events(wake.keys, now):
            self._on(event, now)
        if self._job and self._job.done():
            self._finish_job(self._job)
        elif self._due is not None and now >= self._due:
            self._due = None
            self._advance(None)

    def _events(self, keys: bytes, now: float) -> list[Event]:
        if keys:
            self._escape_due = now + ESCAPE_SECONDS
            return self._decoder.feed(keys)
        return self._decoder.settle() if now >= self._escape_due else []

    def _patience(self) -> float | None:
        """Seconds until something is due by itself; None at rest, which costs nothing."""
        now = time.monotonic()
        waits = [self._due - now] if self._due is not None else []
        if self._working_since is not None and not self._dialog:
            waits.append(SPIN_SECONDS)
        if self._decoder.lone_escape:
            waits.append(self._escape_due - now)
        if self._exit_armed > now:
            waits.append(self._exit_armed - now)
        return max(0.0, min(waits)) if waits else None

    # -- scripts

    def _play(self, script: Script) -> None:
        self._script = script
        self._advance(None)

    def _advance(self, answer: Any) -> None:
        while self._script and self.code is None:
            try:
                step = self._script.send(answer)
            except StopIteration:
                self._stop()
                return
            if self._waits(step):
                return
            answer = None

    def _waits(self, step: Step) -> bool:
        """Takes a step; says whether the script goes on only later."""
        match step:
            case Entry():
                self._screen.say(step)
                return False
            case Show(face):
                self._face = face
                return False
            case Pause(seconds):
                self._due = time.monotonic() + seconds
            case Ask(dialog):
                self._dialog = dialog
            case Do(job):
                self._job = self._workers.submit(job)
                self._job.add_done_callback(lambda _: self._terminal.wake())
            case Quit(code, words):
                self.code, self._words = code, words
        return True

    def _finish_job(self, job: Future[str]) -> None:
        self._job = None
        try:
            result = job.result()
        except (OSError, subprocess.SubprocessError) as error:
            result = f"could not do it: {error}"
        self._advance(result)

    def _stop(self) -> None:
        """The script is over or has been closed: back to rest, or on with what was queued."""
        self._script = self._due = self._job = self._dialog = self._working_since = None
        if self._queue:
            self._submit(self._queue.popleft())

    def _submit(self, prompt: str) -> None:
        if self._script:
            self._queue.append(prompt)
            return
        self._working_since = time.monotonic()
        self._play(turn(self._desk, prompt))

    def _interrupt(self) -> None:
        if self._script and self._working_since is not None:
            self._script.close()
            self._screen.say(Entry("Interrupted", "●"))
            self._stop()

    # -- keys

    def _on(self, event: Event, now: float) -> None:
        if event == Key("ctrl-c"):
            self._ctrl_c(now)
        elif self._dialog:
            answer = self._dialog.on(event)
            if answer is not None:
                self._dialog = None
                self._advance(answer)
        elif self._face is Face.OPEN:
            self._on_chat(event)

    def _on_chat(self, event: Event) -> None:
        if event == Key("esc"):
            self._interrupt()
            return
        if event == Key("ctrl-d"):
            if not self._chat.composer.text:
                self.code = 0
            return
        match self._chat.on(event):
            case Submit(prompt):
                self._submit(prompt)
            case Command(name):
                self._command(name)
            case None:
                pass

    def _command(self, name: str) -> None:
        if name == "/exit":
            self.code = 0
        elif name in COMMANDS:
            self._screen.say(Entry(HELP))
        else:
            self._screen.say(Entry(f"Unknown command: {name}"))

    def _ctrl_c(self, now: float) -> None:
        if now < self._exit_armed:
            self.code = 0
            return
        self._exit_armed = now + EXIT_SECONDS
        self._interrupt()
        self._chat.composer.take()

    # -- the screen

    def _paint(self) -> None:
        if self.code is None:
            self._screen.title(self._title())
            self._screen.paint(self._frame())

    def _title(self) -> str:
        if self._face is not Face.OPEN:
            return ""
        if self._dialog:
            return f"? demo · {self._desk.topic}"
        if self._working_since is None:
            return f"✳ demo · {self._desk.topic}"
        turned = int((time.monotonic() - self._working_since) / SPIN_SECONDS)
        return f"{SPIN[turned % len(SPIN)]} demo · {self._desk.topic}"

    def _frame(self) -> Frame:
        if self._dialog:
            return draw.dialog(self._dialog, self._screen.size[0])
        if self._face is Face.BLANK:
            return draw.blank()
        return draw.chat(self._chat, self._above(), self._footer(), self._screen.size)

    def _above(self) -> list[str]:
        if self._working_since is None:
            return []
        seconds = int(time.monotonic() - self._working_since)
        queued = [f"  queued: {visible(prompt)}".replace("\n", " ") for prompt in list(self._queue)[:3]]
        return [draw.paint(f"✽ Thinking… ({seconds}s)", draw.ACCENT), *queued, ""]

    def _footer(self) -> str:
        if time.monotonic() < self._exit_armed:
            return "Press Ctrl-C again to exit"
        if self._face is Face.DEAF:
            return "loading…"
        if self._working_since is not None:
            return "esc to interrupt"
        return self._desk.reporter.trouble or self._desk.footer
