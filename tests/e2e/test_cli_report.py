"""`fan report`: silent, quick, and never in an agent's way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fan.cli.hot import payload, report
from fan.errors import StoreFailed
from fan.world.store import reports
from tests.support.cli import PROGRAM, Fan


@pytest.mark.parametrize(
    "words", [["rest"], ["needs_input", "--kind", "permission"], [], ["no-such-state"], ["rest", "--nope"]]
)
def test_it_says_nothing_and_ends_well(fan: Fan, words: list[str]) -> None:
    """Whatever a hook says, in or out of a member, nothing is printed and the exit code is 0."""
    for env in ({}, {"FAN_MEMBER": "m", "FAN_LAUNCH": "l", "FAN_PANE": "%1"}):
        result = fan.run("report", *words, stdin='{"prompt": "x"}', env=env)
        assert (result.code, result.out, result.err) == (0, "", "")


def test_a_failure_is_one_line_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be stored is told in logs/report.log. Red when the exception is dropped."""

    def fail(*_: object) -> None:
        raise StoreFailed("the disk is\nfull")

    monkeypatch.setenv("FAN_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("FAN_MEMBER", "m")
    monkeypatch.setattr(reports, "report", fail)
    report(["rest"])
    report([])
    first, second = (tmp_path / "logs" / "report.log").read_text().splitlines()
    assert "StoreFailed: the disk is\\nfull" in first
    assert "usage: fan report STATE" in second


def test_a_log_that_cannot_be_written_is_still_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent goes on even where nothing can be told any more."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FAN_STATE_DIR", str(tmp_path / "file"))
    report([])


def test_the_payload_is_read_to_its_end_and_cut() -> None:
    """A hook that writes more than is kept does not meet a closed pipe."""
    reader, writer = os.pipe()
    os.write(writer, "ä".encode() * 1000)
    os.close(writer)
    assert payload(reader, largest=10) == "ä" * 5
    os.close(reader)


def test_an_input_that_stays_open_does_not_hold_the_agent_up() -> None:
    """What has come within the patience is taken; red when it is read until its end only."""
    reader, writer = os.pipe()
    os.write(writer, b"some")
    assert payload(reader, largest=10, patience=0.05) == "some"
    os.close(writer)
    os.close(reader)


def test_a_closed_standard_input_is_empty(fan: Fan) -> None:
    """A hook without any standard input is a report without a payload."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, "report", "rest"],
        env=fan.env | {"FAN_MEMBER": "m"},
        cwd=fan.folder,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (fan.state / "logs").exists()
