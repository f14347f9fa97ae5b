"""Each mode of the puppet does what the tests that use it rely on."""

from __future__ import annotations

import json
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fan.core.recipe import parse
from tests.puppets import puppet as program
from tests.support.terminal import Terminal, bare_environment, open_terminal
from tests.support.wait import eventually

HERE = Path(__file__).parent
PROMPT = "five\nlines; and \\\n\n\ttab ünïcödé 漢字 $x `y` \\;"


@dataclass
class Puppet:
    """The puppet in a terminal, and its records."""

    terminal: Terminal
    folder: Path

    def start(self, *arguments: str, ready: str = "ready", **env: str) -> Terminal:
        environ = {**bare_environment(self.folder), "PUPPET_DIR": str(self.folder), **env}
        argv = [sys.executable, str(HERE / "puppet.py"), *arguments]
        self.terminal.start(argv, cwd=self.folder, env=environ)
        self.terminal.shows(ready)
        return self.terminal

    def prompt(self, text: str, *, until: str) -> None:
        self.terminal.paste(text)
        self.terminal.press("Enter")
        self.terminal.shows(until)

    def submitted(self) -> list[str]:
        return [record["text"] for record in self._records("submitted")]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [record for record in self._records("events") if record["event"] == name]

    def _records(self, kind: str) -> list[dict[str, Any]]:
        path = self.folder / f"puppet.{kind}"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def puppet(tmp_path: Path) -> Iterator[Puppet]:
    with open_terminal() as terminal:
        yield Puppet(terminal, tmp_path)


def test_plain_works_for_a_while_and_records_every_byte(puppet: Puppet) -> None:
    """A submitted text is on record byte for byte, with the raw stream and each key."""
    puppet.start("--busy", "0.5")
    puppet.prompt(PROMPT, until="press esc to interrupt")
    puppet.terminal.shows("• finished")
    puppet.terminal.shows("ready")
    assert puppet.submitted() == [PROMPT]
    assert (puppet.folder / "puppet.raw").read_bytes() == f"\x1b[200~{PROMPT}\x1b[201~\r".encode()
    assert [event["key"] for event in puppet.events("key")] == ["paste", "enter"]
    assert puppet.events("start")[0]["cwd"] == str(puppet.folder)


def test_what_it_gets_while_busy_is_on_record_as_such(puppet: Puppet) -> None:
    """A test can tell from the events that no key came during a turn."""
    puppet.start("--busy", "30")
    puppet.prompt("work", until="Busy (")
    puppet.terminal.type("x")
    eventually(lambda: puppet.events("key")[-1]["state"] == "busy", within=20)
    assert puppet.submitted() == ["work"]


def test_gate_asks_twice(puppet: Puppet) -> None:
    """Trust, then a server, then the composer."""
    terminal = puppet.start("--gate", ready="=> Continue here")
    terminal.press("Down", "Up", "Enter")
    terminal.shows("Choose a server")
    terminal.press("Enter")
    terminal.shows("ready")
    assert [event["answer"] for event in puppet.events("answered")] == ["Continue here", "eu-west"]


@pytest.mark.parametrize(("arguments", "keys"), [((), ("C-u",)), ((), ("x",)), (("--no-first",), ("Enter",))])
def test_gate_is_left_by_any_other_key(puppet: Puppet, arguments: tuple[str, ...], keys: tuple[str, ...]) -> None:
    """Clearing keys, letters, and Enter where leaving is marked first: exit code 0."""
    terminal = puppet.start("--gate", *arguments, ready="Trust this directory?")
    assert ("=> Leave" in terminal.text()) == bool(arguments)
    terminal.press(*keys)
    assert terminal.exit_code() == 0


def test_slow_drops_what_comes_too_early(puppet: Puppet) -> None:
    """It looks ready from the start; nothing typed in the first moments is ever seen."""
    terminal = puppet.start("--slow", "1.5")
    started = time.monotonic()
    terminal.paste("early")
    terminal.press("Enter")
    eventually(lambda: len(puppet.events("key")) == 2 and time.monotonic() > started + 1.6, within=20)
    assert "early" not in terminal.text()
    puppet.prompt("late", until="Busy (")
    assert puppet.submitted() == ["late"]


def test_notice_is_one_line_above_the_composer(puppet: Puppet) -> None:
    """The bullet line stands directly above, and nothing else differs."""
    lines = puppet.start("--notice").lines()
    assert lines[lines.index(">") - 1].startswith("• 2 servers")


def test_paste_shows_a_stub_and_is_deaf_to_an_early_enter(puppet: Puppet) -> None:
    """Several pasted lines are one stub; an Enter within 300 ms does nothing, a later one submits all."""
    terminal = puppet.start("--paste")
    terminal.tmux(
        *("set-buffer", "-b", "p", "a\nb\n\nc", ";", "paste-buffer", "-d", "-p", "-r", "-b", "p", "-t", "it:", ";"),
        *("send-keys", "-t", "it:", "Enter"),
    )
    terminal.shows("> [paste of 4 lines]")
    eventually(lambda: len(puppet.events("enter ignored")) == 1, within=20)
    time.sleep(0.4)
    terminal.press("Enter")
    terminal.shows("Busy (")
    assert puppet.submitted() == ["a\nb\n\nc"]


@pytest.mark.parametrize(("typed", "entry"), [("/x", "/clear"), ("@x", "@notes"), ("!x", "!ls"), ("#x", "#rem")])
def test_popup_runs_an_entry_instead_of_the_text(puppet: Puppet, typed: str, entry: str) -> None:
    """A leading sign opens the list, and Enter loses the text to it."""
    terminal = puppet.start("--popup", ready="ready")
    terminal.paste(typed)
    terminal.shows(entry)
    terminal.press("Enter")
    terminal.shows(f"ran {entry}")
    assert puppet.submitted() == []
    assert puppet.events("POPUP RAN")[0]["draft"] == typed


def test_popup_leaves_a_slash_in_the_middle_alone(puppet: Puppet) -> None:
    """Only a leading sign opens the list."""
    puppet.start("--popup")
    puppet.prompt("see / and @x", until="Busy (")
    assert puppet.submitted() == ["see / and @x"]


def test_limit_in_both_shapes(puppet: Puppet) -> None:
    """A menu with the reset time; or a notice below an empty composer."""
    puppet.start("--limit")
    puppet.prompt("work", until="Out of credit until 17:00")
    assert "=> Wait for it" in puppet.terminal.text()
    puppet.terminal.hang_up()
    puppet.start("--limit-notice")
    puppet.prompt("work", until="credit used up, back at 17:00")
    assert ">" in puppet.terminal.lines()


def test_login_wants_a_word(puppet: Puppet) -> None:
    """Only the word opens the composer; every try is on record."""
    terminal = puppet.start("--login", ready="Sign in first")
    for word in ("prompt", "letmein"):
        terminal.type(word)
        terminal.press("Enter")
    terminal.shows("ready")
    assert [event["word"] for event in puppet.events("login")] == ["prompt", "letmein"]


@pytest.mark.parametrize(("when", "seen"), [("5", "dead at once"), ("1:5", "your service")])
def test_die_ends_with_its_code(puppet: Puppet, when: str, seen: str) -> None:
    """At once, or after a second in which it looked ready."""
    terminal = puppet.start("--die", when, ready="")
    assert terminal.exit_code() == 5
    assert seen in terminal.history()


def test_echo_only_never_works(puppet: Puppet) -> None:
    """The composer empties and the text moves up; there is no sign of work."""
    puppet.start("--echo-only")
    puppet.prompt("work", until="you: work")
    assert puppet.terminal.lines()[-3:] == [">", "", "ready"]


def test_ghost_is_dim(puppet: Puppet) -> None:
    """The suggestion can be told from a draft by its style alone."""
    terminal = puppet.start("--ghost")
    assert "> \x1b[2mtry: write a test" in "\n".join(terminal.lines(colours=True))


def test_background_work_stays_in_the_footer(puppet: Puppet) -> None:
    """After the turn the composer is open and a shell still runs."""
    puppet.start("--background", "--busy", "0.3")
    puppet.prompt("work", until="ready, 1 shell still running")


def test_lost_enters_leave_the_text(puppet: Puppet) -> None:
    """The first Enters do nothing; the text stays in the composer until one is taken."""
    terminal = puppet.start("--lose-enter", "2")
    terminal.paste("work")
    terminal.press("Enter", "Enter")
    eventually(lambda: len(puppet.events("enter ignored")) == 2, within=20)
    terminal.shows("> work")
    terminal.press("Enter")
    terminal.shows("Busy (")


def test_stall_takes_the_text_and_shows_nothing(puppet: Puppet) -> None:
    """The screen stays as it was; work shows only later, and further Enters count for nothing."""
    terminal = puppet.start("--stall", "1.5")
    puppet.prompt("work", until="> work")
    eventually(lambda: puppet.submitted() == ["work"], within=20)
    terminal.press("Enter")
    assert "> work" in terminal.text()
    terminal.shows("Busy (")
    assert puppet.submitted() == ["work"]


def test_quote_rests_below_signs_of_other_states(puppet: Puppet) -> None:
    """Its last answer quotes work and a trust question; the composer is open."""
    lines = puppet.start("--quote").lines()
    assert any("press esc to interrupt" in line for line in lines[:-3])
    assert lines[-3:] == [">", "", "ready"]


def test_silent_changes_only_a_timer(puppet: Puppet) -> None:
    """Two screens of a turn differ in the seconds alone."""
    terminal = puppet.start("--silent", "--busy", "60")
    puppet.prompt("work", until="Busy (0s)")
    before = terminal.text()
    terminal.shows("Busy (1s)")
    assert terminal.text() == before.replace("(0s)", "(1s)")


def test_a_late_dialog_comes_up_on_the_paste(puppet: Puppet) -> None:
    """After the paste there is a question in place of the composer, and Enter would run it."""
    terminal = puppet.start("--late-dialog")
    terminal.paste("work")
    terminal.shows("May I run it?")
    assert ">" not in [line[:1] for line in terminal.lines()]
    terminal.press("Enter")
    terminal.shows("it ran")
    assert puppet.events("answered")[0]["answer"] == "Run it"


def test_permission_comes_during_the_turn(puppet: Puppet) -> None:
    """A question follows the prompt; refused, it rests."""
    puppet.start("--permission")
    puppet.prompt("work", until="May I run it?")
    puppet.terminal.press("Down", "Enter")
    puppet.terminal.shows("ready")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(("--needs-env", "DEMO_KEY"), "DEMO_KEY is not set"), (("--refuse-env", "OUTER"), "OUTER is set")],
)
def test_it_refuses_an_environment(puppet: Puppet, arguments: tuple[str, ...], why: str) -> None:
    """A missing key and a marker of an outer agent each end it with code 4 and a line that says why."""
    terminal = puppet.start(*arguments, ready="", OUTER="1")
    assert terminal.exit_code() == 4
    assert why in terminal.history()


def test_reports_go_to_fan_with_and_without_its_variables(puppet: Puppet) -> None:
    """`--report` calls as a hook would; `--report-bare` as one that lost the pane's variables."""
    fan = puppet.folder / "fan"
    fan.write_text('#!/bin/sh\necho "$* pane=$FAN_PANE"\n')
    fan.chmod(0o755)
    told = {}
    for flag in ("--report", "--report-bare"):
        puppet.start(flag, FAN_BIN=str(fan), FAN_PANE="%7")
        told[flag] = puppet.events("reported")[-1]["output"]
        puppet.terminal.hang_up()
    assert told == {"--report": "report rest pane=%7\n", "--report-bare": "report rest pane=\n"}


def test_options_may_come_from_the_environment(puppet: Puppet) -> None:
    """`PUPPET_ARGS` stands before what the command line says."""
    puppet.start(ready="Trust this directory?", PUPPET_ARGS="--gate")


def test_a_long_draft_still_shows_its_prompt_sign(puppet: Puppet) -> None:
    """8 KiB without a line end scroll inside the composer, and arrive whole."""
    terminal = puppet.start()
    terminal.paste("word " * 1600 + "end")
    terminal.shows("end")
    assert sum(line.startswith(">") for line in terminal.lines()) == 1
    terminal.press("Enter")
    terminal.shows("Busy (")
    assert puppet.submitted() == ["word " * 1600 + "end"]


def test_its_recipe_is_valid_and_its_options_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of the recipe is one the puppet takes."""
    monkeypatch.delenv("PUPPET_ARGS", raising=False)
    recipe = parse(tomllib.loads((HERE / "recipes" / "puppet.toml").read_text()), where="puppet.toml")
    for option in recipe.options.values():
        monkeypatch.setattr(sys, "argv", ["puppet.py", *option.arguments])
        program.options()
