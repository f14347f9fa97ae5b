"""The demo agent in a real terminal: what a turn is, what keys do, how it starts and ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.support.demo import REST, Demo, git
from tests.support.terminal import Terminal
from tests.support.wait import eventually

RULE = "─" * 120
BOX = "❯\u00a0"  # noqa: RUF001


def box(terminal: Terminal) -> str:
    """What stands in the composer, its first row."""
    rows = [row for row in terminal.lines() if row.startswith(BOX)]
    assert len(rows) == 1
    return rows[0].removeprefix(BOX)


def test_it_starts_blank_and_then_shows_an_empty_composer(demo: Demo) -> None:
    """At rest: a box between rules with a dim suggestion, the footer, a title with the rest sign."""
    terminal = demo.start()
    lines = terminal.lines()
    at = lines.index(RULE)
    assert lines[at + 1].startswith(BOX)
    assert lines[at + 2 :] == [RULE, f"  {REST}"]
    assert "\x1b[2mTry" in "\n".join(terminal.lines(colours=True))
    assert terminal.ask("#{pane_title}") == "✳ demo · new session"
    assert terminal.ask("#{cursor_x},#{cursor_y}") == f"2,{at + 1}"


def test_a_turn_works_commits_and_comes_back_to_rest(demo: Demo) -> None:
    """A prompt shows work, ends in one commit of one file that holds the prompt, and in an empty box."""
    (demo.repository / "staged").write_text("the person's own\n")
    demo.git("add", "staged")
    terminal = demo.start(FAN_DEMO_SPEED="1")
    demo.prompt("Add a retry;\n\nwith 'quotes' and $HOME", until="esc to interrupt")
    assert "✽ Thinking… (" in terminal.text()
    assert 0x2800 <= ord(terminal.ask("#{pane_title}")[0]) <= 0x28FF
    terminal.shows("● Done: wrote demo/NOTES-")
    terminal.shows(REST)
    assert "Thinking" not in terminal.text()
    assert terminal.ask("#{pane_title}") == "✳ demo · Add a retry; with 'quotes'"
    assert demo.git("log", "-1", "--format=%an %s").strip() == "demo demo: Add a retry; with 'quotes'"
    (path,) = demo.git("show", "--format=", "--name-only").split()
    assert "Add a retry;\n\nwith 'quotes' and $HOME\n" in (demo.repository / path).read_text()
    assert demo.git("status", "--porcelain").strip() == "A  staged"
    kinds = [(item["type"], item["text"][:5]) for item in demo.items()]
    assert kinds == [("user", "Add a"), ("assistant", "Done:"), ("turn_end", "")]
    assert len({item["id"] for item in demo.items()}) == 1


def test_it_commits_where_it_stands_whatever_git_variables_say(demo: Demo, tmp_path: Path) -> None:
    """Git's own location variables, as an alias or a hook leaves them, lead it nowhere else."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    demo.start(GIT_DIR=str(other / ".git"), GIT_INDEX_FILE=str(other / "index"))
    demo.prompt("work here")
    assert demo.git("log", "-1", "--format=%s").strip() == "demo: work here"
    assert not (other / "index").exists()


def test_outside_a_repository_it_says_that_nothing_was_committed(demo: Demo, tmp_path: Path) -> None:
    """A turn that cannot commit does not pretend to."""
    demo.repository = tmp_path / "plain"
    demo.repository.mkdir()
    demo.start()
    demo.prompt("work here")
    demo.terminal.shows("not committed:")


def test_a_large_paste_arrives_byte_for_byte(demo: Demo) -> None:
    """100 KB in one bracketed paste show as a stub and are submitted whole."""
    prompt = "".join(f"line {n}: ünïcödé 漢字 \t; \\ \" ' $x `y`\n" for n in range(2500)) + "end"
    terminal = demo.start()
    terminal.paste(prompt)
    terminal.shows("[Pasted text #1 +2500 lines]")
    terminal.press("Enter")
    assert demo.prompts(1) == [prompt]


def test_enter_at_once_after_a_paste_submits_it(demo: Demo) -> None:
    """There is no dead time after a paste."""
    terminal = demo.start()
    terminal.tmux(
        *("set-buffer", "-b", "p", "a\n\nb", ";", "paste-buffer", "-d", "-p", "-r", "-b", "p", "-t", "it:", ";"),
        *("send-keys", "-t", "it:", "Enter"),
    )
    assert demo.prompts(1) == ["a\n\nb"]


def test_a_leading_slash_opens_a_list_that_enter_picks_from(demo: Demo) -> None:
    """A slash is a command: typed as a prompt it would leave the demo."""
    terminal = demo.start()
    terminal.type("/")
    terminal.shows("/exit    leave the demo")
    assert REST not in terminal.text()
    terminal.press("Enter")
    terminal.shows("Esc interrupts")
    terminal.paste("/usr is full")
    terminal.press("Enter")
    terminal.shows("Unknown command: /usr")
    terminal.type("/e")
    terminal.press("Enter")
    assert terminal.exit_code() == 0
    assert demo.items() == []


def test_escape_interrupts_a_turn(demo: Demo) -> None:
    """After Esc it rests again, with nothing committed and the turn ended in the transcript."""
    terminal = demo.start(FAN_DEMO_SPEED="0.1")
    demo.prompt("take long", until="esc to interrupt")
    terminal.press("Escape")
    terminal.shows("● Interrupted")
    terminal.shows(REST)
    assert demo.git("log", "--format=%s").split() == ["first"]
    assert [item["type"] for item in demo.items()] == ["user", "assistant", "turn_end"]


def test_what_is_sent_during_a_turn_waits_for_its_end(demo: Demo) -> None:
    """A second prompt is queued, shown, and worked on afterwards."""
    terminal = demo.start(FAN_DEMO_SPEED="1")
    demo.prompt("the first", until="esc to interrupt")
    demo.prompt("the second", until="queued: the second")
    assert demo.prompts(2) == ["the first", "the second"]
    terminal.shows(REST)


def test_ctrl_c_twice_leaves_the_terminal_as_it_was(demo: Demo) -> None:
    """The first Ctrl-C clears the draft and warns; the second exits 0 with echo and line mode on."""
    shell = f"{sys.executable} -m fan.demo; echo left with $?; stty -a; cat"
    demo.terminal.start(
        ["sh", "-c", shell], cwd=demo.repository, env={**demo.environ, "FAN_DEMO_HOME": str(demo.home)}
    )
    terminal = demo.terminal
    terminal.shows(REST)
    terminal.type("a draft")
    terminal.shows("a draft")
    terminal.press("C-c")
    terminal.shows("Press Ctrl-C again to exit")
    assert "a draft" not in terminal.text()
    terminal.press("C-c")
    terminal.shows("left with 0")
    terminal.shows(" icanon")
    assert " echo " in terminal.text()
    assert RULE not in terminal.text()


def test_every_size_shows_one_composer(demo: Demo) -> None:
    """After a resize, narrow or wide, in a turn or not, the box is there once and fits."""
    terminal = demo.start()
    demo.prompt("x " * 200)
    for columns, rows in ((60, 20), (220, 50), (30, 12), (80, 24)):
        terminal.resize(columns, rows)
        terminal.shows_rows("─" * columns, count=2)
        box(terminal)
        assert terminal.lines()[-1] == f"  {REST}"


def test_at_rest_it_costs_nothing(demo: Demo, tmp_path: Path) -> None:
    """No byte is drawn and it does not even wake up while nothing happens."""
    terminal = demo.start()
    drawn = tmp_path / "drawn"
    terminal.tmux("pipe-pane", "-O", "-t", "it:", f"cat > {drawn}")
    terminal.type("x")
    eventually(lambda: drawn.exists() and drawn.stat().st_size, within=20)
    process = psutil.Process(int(terminal.ask("#{pane_pid}")))
    size, woken = drawn.stat().st_size, process.num_ctx_switches().voluntary
    time.sleep(1.0)
    assert (drawn.stat().st_size, process.num_ctx_switches().voluntary) == (size, woken)


def test_every_byte_read_is_logged(demo: Demo, tmp_path: Path) -> None:
    """The key log holds brackets, text and keys, in order."""
    log = tmp_path / "keys"
    terminal = demo.start(FAN_DEMO_KEYLOG=str(log))
    terminal.paste("a\nb")
    terminal.press("Left", "Enter")
    eventually(lambda: log.read_bytes() == b"\x1b[200~a\nb\x1b[201~\x1b[D\r", within=20)
    assert log.stat().st_mode & 0o077 == 0


def test_a_session_goes_on_where_it_ended(demo: Demo) -> None:
    """`--resume` shows the talk so far and adds to the same transcript."""
    session = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"
    demo.start("", "--session-id", session)
    demo.prompt("before the reboot")
    demo.terminal.hang_up()
    terminal = demo.start("", "--resume", session)
    assert "❯ before the reboot" in terminal.text()  # noqa: RUF001
    demo.prompt("after it")
    assert [path.stem for path in (demo.home / "sessions").iterdir()] == [session]
    assert demo.prompts(2) == ["before the reboot", "after it"]


def test_without_a_terminal_or_with_a_wrong_behaviour_it_says_so(demo: Demo) -> None:
    """Both are refused with exit code 2 and one clear line."""
    called = [sys.executable, "-m", "fan.demo"]
    done = subprocess.run(
        called, stdin=subprocess.DEVNULL, env=demo.environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "it needs a terminal" in done.stderr
    terminal = demo.start("dance", ready="knows no 'dance'")
    assert terminal.exit_code() == 2
