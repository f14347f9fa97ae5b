"""A person's command: what it prints is kept, what it says by its exit code counts, what it starts ends with it."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from fan.errors import DiskFailed, FanError, Interrupted, NotFound, TimedOut, TooLarge, ToolMissing
from fan.world import commands
from fan.world.commands import last_lines, run, said
from tests.support.tmux import gone
from tests.support.wait import eventually

ENV = {"PATH": os.environ["PATH"], "MARK": "ü"}


def test_output_of_both_streams_is_appended_and_the_code_is_its_own(tmp_path: Path) -> None:
    """Two runs, one private log; what is printed cannot make a failure a success."""
    log = tmp_path / "own" / "log"
    assert run('echo "exit code 0 $MARK"; echo PASSED >&2; exit 7', tmp_path, ENV, log) == 7
    assert run(["sh", "-c", "exit $0", "3"], tmp_path, ENV, log) == 3
    assert last_lines(log, 5) == ["exit code 0 ü", "PASSED"]
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


def test_what_a_program_prints_can_be_asked_for(tmp_path: Path) -> None:
    """Both streams, whatever its exit code; one that is silent for too long is ended and told."""
    assert said(["sh", "-c", "echo 1.2 $MARK; echo 3 >&2; exit 4"], tmp_path, ENV, 20) == "1.2 ü\n3\n"
    with pytest.raises(TimedOut):
        said(["sleep", "60"], tmp_path, ENV, 0.2)


def test_a_signal_is_a_failure(tmp_path: Path) -> None:
    """As a shell says it: 128 and the signal's number."""
    assert run("kill -TERM $$", tmp_path, ENV, tmp_path / "log") == 143


def test_nothing_can_be_asked(tmp_path: Path) -> None:
    """Standard input is empty and there is no terminal, so a question ends the command and not the wait."""
    assert run("read x || exit 4", tmp_path, ENV, tmp_path / "log", 20) == 4
    own_session = "import os; raise SystemExit(os.getsid(0) != os.getpid())"
    assert run([sys.executable, "-c", own_session], tmp_path, ENV, tmp_path / "log", 20) == 0


def _pid(file: Path) -> int:
    return int(file.read_text() or 0) if file.exists() else 0


def test_time_is_up_for_the_whole_group(tmp_path: Path) -> None:
    """A command that ignores being asked is killed with its children after its time.

    Red when only the shell is ended.
    """
    line = "trap '' TERM; sleep 300 & echo $! > child; wait; wait"
    with pytest.raises(TimedOut, match=r"within 0\.5 seconds"):
        run(line, tmp_path, ENV, tmp_path / "log", 0.5)
    eventually(lambda: gone(_pid(tmp_path / "child")))


def test_what_is_left_behind_ends_with_the_command(tmp_path: Path) -> None:
    """A child in the background neither holds the result up nor outlives it."""
    assert run("sleep 300 & echo $! > child", tmp_path, ENV, tmp_path / "log", 60) == 0
    eventually(lambda: gone(_pid(tmp_path / "child")))


def test_it_can_be_stopped(tmp_path: Path) -> None:
    """As soon as somebody says so it is ended, and says that it was interrupted."""
    stop = threading.Event()
    with pytest.raises(Interrupted):
        run("echo go; sleep 300", tmp_path, ENV, tmp_path / "log", 60, lambda _: stop.set(), stopped=stop.is_set)


def test_the_newest_line_is_told(tmp_path: Path) -> None:
    """Progress bars that return to the start of their line too; blank lines are none."""
    told: list[str] = []
    run("printf '10%%\\r90%%\\r\\n\\n'", tmp_path, ENV, tmp_path / "log", 60, told.append)
    assert told == ["90%"]


def test_endless_output_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command cannot fill the disk."""
    monkeypatch.setattr(commands, "LARGEST_LOG", 2**20)
    with pytest.raises(TooLarge, match="1 MiB"):
        run("yes", tmp_path, ENV, tmp_path / "log", 60)


@pytest.mark.parametrize(
    ("command", "where", "log", "refusal"),
    [
        (["no-such-program"], ".", "log", ToolMissing),
        ("true", "nowhere", "log", NotFound),
        ("true", ".", ".", DiskFailed),
    ],
)
def test_what_cannot_be_started_is_refused(
    tmp_path: Path, command: str | list[str], where: str, log: str, refusal: type[FanError]
) -> None:
    """A missing program, folder or log is one sentence, not an exit code."""
    with pytest.raises(refusal):
        run(command, tmp_path / where, ENV, tmp_path / log)
