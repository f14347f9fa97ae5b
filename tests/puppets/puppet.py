#!/usr/bin/env python3
"""A stand-in for an agent's terminal program that misbehaves as it is told.

It shares no code and no look with fan's own demo agent. Options come from `PUPPET_ARGS` and, last
and strongest, from the command line. With `PUPPET_DIR` it writes there, under its `FAN_MEMBER` (else `puppet`):
`.raw` every byte it read; `.submitted` one JSON object a submitted text (`text`, surrogate-escaped, so that
the bytes come back exactly); `.events` one JSON object for its start (pid, folder, arguments, environment),
each key (`state` says what it was doing) and each thing that it did. A command line in `.errand` is run below it.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shlex
import subprocess
import sys
import termios
import time
import tty
from pathlib import Path

PASTE = (b"\x1b[200~", b"\x1b[201~")
ARROWS = {b"\x1b[A": "up", b"\x1b[B": "down", b"\x1bOA": "up", b"\x1bOB": "down"}
KEYS = {b"\r": "enter", b"\n": "newline", b"\x7f": "backspace", b"\x15": "kill", b"\x03": "interrupt"}
TRUST = ("Trust this directory?", ["Continue here", "Leave"])
SERVERS = ("Choose a server", ["eu-west", "us-east"])
PERMISSION = ("May I run it?", ["Run it", "Refuse"])
LIMIT = ("Out of credit until 17:00", ["Wait for it", "Buy more"])
COMMANDS = {"/": ["/clear", "/quit"], "@": ["@notes.txt"], "!": ["!ls"], "#": ["#remember"]}
QUOTE = ["The screen said: Busy (9s) press esc to interrupt", "and then: Trust this directory? => Continue here"]
ENTER_DEAF = 0.3
BOX_ROWS = 10


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    flags = "gate no-first notice paste popup login echo-only ghost background quote silent late-dialog"
    for name in (*flags.split(), "permission", "limit", "limit-notice", "report", "report-bare", "no-brackets"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--busy", type=float, default=2.0, metavar="S", help="how long a turn takes")
    parser.add_argument("--slow", type=float, nargs="?", const=8.0, default=0.0, metavar="S")
    parser.add_argument("--stall", type=float, nargs="?", const=1e9, default=0.0, metavar="S")
    parser.add_argument("--lose-enter", type=int, default=0, metavar="N")
    parser.add_argument("--die", default="", metavar="[SECONDS:]CODE", help="at once, or after seconds")
    parser.add_argument("--needs-env", action="append", default=[], metavar="NAME")
    parser.add_argument("--refuse-env", action="append", default=[], metavar="NAME")
    parser.add_argument("--version", action="version", version="puppet 1")
    return parser.parse_args([*shlex.split(os.environ.get("PUPPET_ARGS", "")), *sys.argv[1:]])


class Records:
    """The files that the tests read."""

    def __init__(self) -> None:
        folder = os.environ.get("PUPPET_DIR")
        self.stem = Path(folder) / os.environ.get("FAN_MEMBER", "puppet") if folder else None

    def raw(self, data: bytes) -> None:
        self._append("raw", data)

    def submitted(self, text: bytes) -> None:
        self._json("submitted", {"text": text.decode("utf-8", "surrogateescape")})

    def event(self, name: str, **more: object) -> None:
        self._json("events", {"event": name, **more})

    def _json(self, kind: str, record: dict[str, object]) -> None:
        self._append(kind, json.dumps({**record, "at": time.time()}).encode() + b"\n")

    def _append(self, kind: str, data: bytes) -> None:
        if self.stem:
            file = os.open(f"{self.stem}.{kind}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(file, data)
            os.close(file)


def run_errands(records: Records) -> None:
    """Runs, as an agent runs its tools, the command line that a test has put into a file of this member's."""
    errand = Path(f"{records.stem}.errand")
    if records.stem and errand.exists():
        number, _, line = errand.read_text().partition("\n")
        errand.unlink()
        out = shlex.quote(f"{records.stem}.{number}")
        ended = f"echo $? >{out}.part; mv {out}.part {out}.code"
        subprocess.Popen(f"({line}) >{out}.out 2>{out}.err </dev/null; {ended}", shell=True)


def keys_of(data: bytes) -> tuple[list[tuple[str, bytes]], bytes]:
    """The keys in `data` as (name, bytes), and what is not complete yet."""
    found = []
    while data:
        if data.startswith(PASTE[0]):
            body, end, after = data[len(PASTE[0]) :].partition(PASTE[1])
            if not end:
                break
            found.append(("paste", body))
            data = after
        elif data[:3] in ARROWS:
            found.append((ARROWS[data[:3]], data[:3]))
            data = data[3:]
        elif len(data) > 1 and PASTE[0].startswith(data):
            break
        elif data[:1] == b"\x1b":
            found.append(("escape", data[:1]))
            data = data[1:]
        else:
            found.append((KEYS.get(data[:1], "text"), data[:1]))
            data = data[1:]
    return found, data


def chopped(line: str, columns: int) -> list[str]:
    """`line` in rows that fit, whether or not its characters are wide."""
    size = columns if line.isascii() else columns // 2
    return [line[at : at + size] for at in range(0, len(line), size)] or [""]


class Puppet:
    """A state by name, a draft of pieces (the bytes, how they look), a talk, and what is due when."""

    def __init__(self, wanted: argparse.Namespace, records: Records) -> None:
        self.wanted, self.records = wanted, records
        self.talk = ["puppet at your service", ""]
        self.draft: list[tuple[bytes, bytes]] = []
        self.dialog, self.marked = TRUST, 0
        self.footer = "ready"
        self.word = b""
        self.since = self.pasted = 0.0
        self.lost = 0
        self.due = 1e18
        self.pending: list[str] = []
        self.code: int | None = None
        self.painted = ""
        self.state = self.first_state()

    def first_state(self) -> str:
        if self.wanted.quote:
            self.talk += [*QUOTE, ""]
        if self.wanted.notice:
            self.talk.append("\u2022 2 servers want your attention")
        if self.wanted.gate:
            self.pending = ["servers"]
            return self.ask(TRUST)
        if self.wanted.login:
            return "login"
        if self.wanted.slow:
            self.due = time.monotonic() + self.wanted.slow
            return "slow"
        self.report("rest")
        return "ready"

    def ask(self, dialog: tuple[str, list[str]]) -> str:
        answers = dialog[1][::-1] if self.wanted.no_first and dialog is TRUST else dialog[1]
        self.dialog, self.marked = (dialog[0], answers), 0
        return "dialog"

    # -- keys

    def key(self, name: str, data: bytes) -> None:
        self.records.event("key", key=name, bytes=data.decode("utf-8", "surrogateescape"), state=self.state)
        if name == "interrupt":
            self.code = 130
        handler = getattr(self, f"{self.state}_key", None)
        if handler:
            handler(name, data)

    def dialog_key(self, name: str, _data: bytes) -> None:
        question, answers = self.dialog
        if name in ("up", "down"):
            self.marked = (self.marked + (1 if name == "down" else -1)) % len(answers)
        elif name == "enter":
            self.answered(question, answers[self.marked])
        elif self.wanted.gate:
            self.records.event("left", question=question)
            self.code = 0

    def answered(self, question: str, answer: str) -> None:
        self.records.event("answered", question=question, answer=answer)
        if answer == "Leave":
            self.code = 0
        elif self.pending:
            self.pending.clear()
            self.state = self.ask(SERVERS)
        elif answer == "Run it" and question == PERMISSION[0]:
            self.talk += ["it ran", ""]
            self.work()
        else:
            self.rest()

    def login_key(self, name: str, data: bytes) -> None:
        if name == "enter":
            self.records.event("login", word=self.word.decode("utf-8", "replace"))
            if self.word == b"letmein":
                self.rest()
            self.word = b""
        elif name == "text":
            self.word += data

    def ready_key(self, name: str, data: bytes) -> None:
        if name == "paste":
            self.paste(data)
        elif name == "enter":
            self.enter()
        elif name == "backspace":
            del self.draft[-1:]
        elif name == "kill":
            self.draft = []
        elif name in ("text", "newline"):
            self.draft.append((data, data))

    def paste(self, data: bytes) -> None:
        self.pasted = time.monotonic()
        lines = data.count(b"\n") + data.count(b"\r") + 1
        shown = data.replace(b"\r", b"\n")
        if self.wanted.paste and lines > 1:
            shown = f"[paste of {lines} lines]".encode()
        self.draft.append((data, shown))
        if self.wanted.late_dialog:
            self.state = self.ask(PERMISSION)

    def enter(self) -> None:
        text = b"".join(piece for piece, _ in self.draft)
        if self.wanted.paste and time.monotonic() - self.pasted < ENTER_DEAF:
            self.records.event("enter ignored", why="too soon after a paste")
        elif self.lost < self.wanted.lose_enter:
            self.lost += 1
            self.records.event("enter ignored", why="lost")
        elif self.popup():
            self.records.event("POPUP RAN", entry=self.popup()[0], draft=text.decode("utf-8", "replace"))
            self.talk += [f"ran {self.popup()[0]}", ""]
            self.draft = []
        elif text.strip():
            self.submit(text)

    def submit(self, text: bytes) -> None:
        self.records.submitted(text)
        if self.wanted.stall:
            self.state, self.due = "stalled", time.monotonic() + self.wanted.stall
        else:
            self.take(text)

    def take(self, text: bytes) -> None:
        shown = [line[:70] for line in text.decode("utf-8", "replace").split("\n")]
        self.talk += [f"you: {shown[0]}", *(f"     {line}" for line in shown[1:6]), ""]
        self.draft = []
        if self.wanted.limit:
            self.state = self.ask(LIMIT)
        elif self.wanted.limit_notice:
            self.footer = "credit used up, back at 17:00"
            self.state = "ready"
        elif self.wanted.permission:
            self.state = self.ask(PERMISSION)
        elif not self.wanted.echo_only:
            self.work(text)

    # -- what it does

    def work(self, prompt: bytes = b"") -> None:
        self.state, self.since = "busy", time.monotonic()
        self.due = self.since + self.wanted.busy
        self.report("working", prompt)

    def rest(self) -> None:
        self.state, self.due = "ready", 1e18
        self.report("rest")

    def tick(self) -> None:
        """What was due is done."""
        if time.monotonic() < self.due:
            return
        was, self.due = self.state, 1e18
        if was == "stalled":
            self.take(b"".join(piece for piece, _ in self.draft))
            return
        if was == "busy":
            self.talk += ["\u2022 finished", ""]
            self.footer = "ready, 1 shell still running" if self.wanted.background else "ready"
        self.painted = ""
        self.rest()

    def report(self, state: str, prompt: bytes = b"") -> None:
        if not (self.wanted.report or self.wanted.report_bare):
            return
        environ = {k: v for k, v in os.environ.items() if self.wanted.report or not k.startswith("FAN_")}
        payload = json.dumps({"event": state, "prompt": prompt.decode("utf-8", "replace")})
        called = [os.environ.get("FAN_BIN", "fan"), "report", state]
        done = subprocess.run(called, input=payload, env=environ, text=True, capture_output=True, check=False)
        self.records.event("reported", state=state, code=done.returncode, output=done.stdout + done.stderr)

    # -- what it draws

    def popup(self) -> list[str]:
        return COMMANDS.get(self.shown()[:1], []) if self.wanted.popup else []

    def shown(self) -> str:
        return b"".join(shown for _, shown in self.draft).decode("utf-8", "replace")

    def rows(self, columns: int) -> list[str]:
        if self.state == "login":
            return ["Sign in first", "", "type the word you were given", f"word: {'*' * len(self.word)}"]
        if self.state == "dialog":
            question, answers = self.dialog
            marks = [("=> " if index == self.marked else "   ") + text for index, text in enumerate(answers)]
            head = self.talk[2:] if question in (PERMISSION[0], LIMIT[0]) else []
            return [*head, question, f"  {Path.cwd()}", *marks]
        lines = [row for line in self.shown().split("\n") for row in chopped(line, columns - 3)][-BOX_ROWS:]
        box = [f"> {lines[0]}", *(f"  {line}" for line in lines[1:])]
        if self.wanted.ghost and not self.draft:
            box = ["> \x1b[2mtry: write a test\x1b[0m"]
        return [*self.talk, *box, "", *(self.popup() or [self.status()])]

    def status(self) -> str:
        if self.state == "busy":
            return f"Busy ({time.monotonic() - self.since:.0f}s) press esc to interrupt"
        return self.footer

    def spin(self) -> str:
        """A spinner above everything, unless only the timer may change."""
        if self.state != "busy" or self.wanted.silent:
            return ""
        return "|/-\\"[int(time.monotonic() * 5) % 4]

    def paint(self) -> None:
        size = os.get_terminal_size(sys.stdout.fileno())
        rows = self.rows(size.columns)[-(size.lines - 1) :]
        if spinner := self.spin():
            rows[-1] = f"{rows[-1]} {spinner}"
        text = "\r\n".join(f"{row}\x1b[K" for row in rows)
        if text != self.painted:
            self.painted = text
            os.write(sys.stdout.fileno(), f"\x1b[H{text}\x1b[J".encode())

    def run(self) -> int:
        waiting = b""
        while self.code is None:
            self.paint()
            run_errands(self.records)
            if select.select([0], [], [], 0.1)[0]:
                try:
                    data = os.read(0, 65536)
                except OSError:
                    data = b""
                if not data:
                    return 129
                self.records.raw(data)
                found, waiting = keys_of(waiting + data)
                for name, piece in found:
                    self.key(name, piece)
            self.tick()
        return self.code


def refused(wanted: argparse.Namespace) -> str:
    for name in wanted.needs_env:
        if name not in os.environ:
            return f"puppet: {name} is not set"
    for name in wanted.refuse_env:
        if name in os.environ:
            return f"puppet: {name} is set, it would run inside another agent"
    return ""


def main() -> int:
    wanted, records = options(), Records()
    records.event("start", pid=os.getpid(), cwd=str(Path.cwd()), argv=sys.argv, env=dict(os.environ))
    if why := refused(wanted):
        print(why)
        return 4
    seconds, _, code = wanted.die.rpartition(":")
    if code and not seconds:
        print("puppet: dead at once")
        return int(code)
    before = termios.tcgetattr(0)
    tty.setraw(0, termios.TCSADRAIN)
    try:
        os.write(1, b"" if wanted.no_brackets else b"\x1b[?2004h")
        puppet = Puppet(wanted, records)
        if code:
            puppet.paint()
            select.select([], [], [], float(seconds))
            return int(code)
        return puppet.run()
    finally:
        os.write(1, b"\x1b[?2004l\r\n")
        termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    sys.exit(main())
