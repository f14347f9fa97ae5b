"""Each word of `FAN_DEMO`, and the reports to `fan`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fan.demo import behaviours
from tests.support.demo import REST, Demo
from tests.support.wait import eventually

TRUST = "Do you trust the files in this folder?"


def test_trust_is_asked_once_for_a_repository(demo: Demo, tmp_path: Path) -> None:
    """Only arrows, Enter and digits count; a yes holds for every worktree of the repository."""
    terminal = demo.start("trust", ready=TRUST)
    terminal.paste("a prompt")
    terminal.type("xyz")
    terminal.press("Down")
    terminal.shows("❯ 2. No, exit")  # noqa: RUF001
    terminal.press("Up", "Enter")
    terminal.shows(REST)
    assert "a prompt" not in terminal.text()
    terminal.hang_up()
    demo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    demo.repository = tmp_path / "linked"
    demo.start("trust")


def test_no_to_trust_exits_as_if_all_were_well(demo: Demo) -> None:
    """The second answer leaves with code 0, and the next start asks again."""
    demo.start("trust", ready=TRUST).press("2")
    assert demo.terminal.exit_code() == 0
    demo.terminal.hang_up()
    demo.start("trust", ready=TRUST)


def test_trust_by_path_is_asked_in_every_worktree(demo: Demo, tmp_path: Path) -> None:
    """With `trust=path` a yes holds for that folder only."""
    demo.start("trust=path", ready=TRUST).press("1")
    demo.terminal.shows(REST)
    demo.terminal.hang_up()
    demo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    demo.repository = tmp_path / "linked"
    demo.start("trust=path", ready=TRUST)


def test_slow_looks_ready_and_drops_keys(demo: Demo) -> None:
    """The composer is painted, but what is typed before it is ready is gone for good."""
    terminal = demo.start("slow=1.5", ready="loading…")
    assert terminal.ask("#{pane_title}")[:1] != "✳"
    terminal.paste("lost")
    terminal.press("Enter")
    terminal.shows(REST)
    assert "lost" not in terminal.text()
    assert terminal.ask("#{pane_title}")[:1] == "✳"
    demo.prompt("kept")
    assert demo.prompts(1) == ["kept"]


def test_login_wants_its_word(demo: Demo) -> None:
    """Anything but the word and Enter leaves it logged out."""
    terminal = demo.start("login", ready="You are not logged in")
    terminal.paste("a prompt")
    terminal.press("Enter")
    terminal.type("please")
    terminal.press("Enter")
    terminal.shows("That was not it")
    terminal.type("login")
    terminal.press("Enter")
    terminal.shows(REST)


@pytest.mark.parametrize(("answer", "shown"), [("1", "  Usage limit reached · resets 3pm"), ("2", "● Done:")])
def test_limit_stops_the_first_prompt(demo: Demo, answer: str, shown: str) -> None:
    """Waiting drops back to an open composer with the notice below; switching goes on with the work."""
    terminal = demo.start("limit")
    demo.prompt("work", until="2. Switch")
    assert "1. Wait" in terminal.text()
    terminal.press(answer)
    terminal.shows(shown)
    demo.prompt("once more")


def test_permission_is_asked_before_the_file_is_written(demo: Demo) -> None:
    """No means no file and an ended turn; yes means the commit."""
    terminal = demo.start("permission")
    demo.prompt("work", until="Do you want to create demo/NOTES-")
    assert terminal.ask("#{pane_title}").startswith("? demo")
    terminal.press("Down", "Enter")
    terminal.shows("● Not done: you did not allow")
    assert not list(demo.repository.glob("demo/*"))
    demo.prompt("work again", until="Do you want to create demo/NOTES-")
    terminal.press("Enter")
    terminal.shows("● Done:")


def test_a_question_ends_the_turn_with_an_open_composer(demo: Demo) -> None:
    """Its footer asks; the answer is worked on and ends the asking."""
    terminal = demo.start("question")
    demo.prompt("work", until="? Which one: a or b")
    assert "❯\u00a0" in terminal.text()  # noqa: RUF001
    demo.prompt("a")
    terminal.shows(REST)


def test_an_error_ends_the_turn(demo: Demo) -> None:
    """The error stands above an open composer; `error=1` lets the second prompt through."""
    terminal = demo.start("error=1")
    demo.prompt("work", until="● API Error: 500 demo error")
    terminal.shows("API error · send again to retry")
    demo.prompt("work")


@pytest.mark.parametrize(("word", "code"), [("die", 3), ("die=7", 7)])
def test_die_exits_with_its_code(demo: Demo, word: str, code: int) -> None:
    """The last line on the screen says it."""
    terminal = demo.start(word, ready=f"died as asked, exit code {code}")
    assert terminal.exit_code() == code


def test_behaviours_are_read_strictly() -> None:
    """Unknown words and values are refused, several words may stand together."""
    read = behaviours.read({"FAN_DEMO": "trust, slow=2,limit=3", "FAN_DEMO_SPEED": "4"})
    assert (read.trust, read.slow, read.limit, read.speed) == ("repository", 2.0, 3, 4.0)
    for wrong in ("nap", "trust=me", "slow=soon"):
        with pytest.raises(ValueError, match=r"FAN_DEMO|trust|soon"):
            behaviours.read({"FAN_DEMO": wrong})


class Fan:
    """A program in the place of `fan` that notes, and not at once, how it was called."""

    def __init__(self, folder: Path) -> None:
        self.calls = folder / "calls"
        self.program = folder / "fan it"
        self.program.write_text(f'#!/bin/sh\nsleep 0.1\nprintf "%s\\t%s\\n" "$*" "$(cat)" >> "{self.calls}"\n')
        self.program.chmod(0o755)

    def told(self) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line.split("\t")[0].removeprefix("report ") for line in lines]

    def payloads(self) -> list[dict[str, Any]]:
        return [json.loads(line.split("\t")[1]) for line in self.calls.read_text().splitlines()]


def test_it_reports_every_change_in_order(demo: Demo, tmp_path: Path) -> None:
    """Ready, prompt, question, answer, end and exit reach `fan`, each with the session and its transcript."""
    fan = Fan(tmp_path)
    terminal = demo.start("permission", FAN_BIN=str(fan.program))
    prompt = "work " * 30_000 + "end"
    demo.prompt(prompt, until="Do you want to create")
    terminal.press("1")
    terminal.shows("● Done:")
    terminal.hang_up()
    expected = ["rest", "working", "needs_input --kind permission", "working", "rest", "exited"]
    eventually(lambda: fan.told() == expected, within=20)
    payloads = fan.payloads()
    assert [payload["event"] for payload in payloads][::5] == ["SessionStart", "SessionEnd"]
    assert payloads[1]["prompt"] == prompt
    assert {payload["session_id"] for payload in payloads} == {Path(payloads[0]["transcript_path"]).stem}
    assert Path(payloads[0]["transcript_path"]).exists()


@pytest.mark.parametrize(
    ("word", "states"),
    [
        ("question", ["rest", "working", "needs_input --kind question"]),
        ("error", ["rest", "working", "errored"]),
        ("limit", ["rest", "working", "limited"]),
    ],
)
def test_it_reports_how_a_turn_ended(demo: Demo, tmp_path: Path, word: str, states: list[str]) -> None:
    """A question, an error and a limit are states of their own."""
    fan = Fan(tmp_path)
    demo.start(word, FAN_BIN=str(fan.program))
    demo.terminal.paste("work")
    demo.terminal.press("Enter")
    eventually(lambda: fan.told() == states, within=20)


def test_no_report_of_rest_before_it_is_ready(demo: Demo, tmp_path: Path) -> None:
    """While it only looks ready nothing is reported."""
    fan = Fan(tmp_path)
    demo.start("slow=1", ready="loading…", FAN_BIN=str(fan.program))
    assert fan.told() == []
    demo.terminal.shows(REST)
    demo.prompt("work")
    eventually(lambda: len(fan.told()) >= 3, within=20)
    assert fan.told() == ["rest", "working", "rest"]


def test_hooks_can_be_off_and_a_broken_hook_is_told(demo: Demo, tmp_path: Path) -> None:
    """Off means no call; a program that cannot be run is named in the footer and stops nothing."""
    fan = Fan(tmp_path)
    demo.start(FAN_BIN=str(fan.program), FAN_DEMO_HOOKS="off")
    demo.prompt("work")
    assert fan.told() == []
    demo.terminal.hang_up()
    demo.start(ready="cannot report: No such file", FAN_BIN=str(tmp_path / "none"))
    demo.prompt("work")


def test_a_hook_that_hangs_stops_nothing(demo: Demo, tmp_path: Path) -> None:
    """The screen goes on while a report does not end; it is not waited for."""
    program = tmp_path / "hang"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    demo.start(FAN_BIN=str(program))
    demo.prompt("work")
    demo.terminal.press("C-c", "C-c")
    assert demo.terminal.exit_code() == 0
