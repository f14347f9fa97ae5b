"""Standard output that takes nothing: full, closed, or open for reading alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan, Result

FULL = pytest.param(">/dev/full", marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full"))
WAYS = [FULL, ">&-", f"1<{os.devnull}"]


def refused(fan: Fan, way: str, *words: str) -> Result:
    """Run one command line with its standard output redirected by a shell."""
    command = ["sh", "-c", f'"$@" {way}', "sh", *PROGRAM, *words]
    done = subprocess.run(command, env=fan.env, cwd=fan.repos.home, capture_output=True, text=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["ls", "--json"], ["ls", "--help"], ["mail", "ls"]])
def test_a_result_that_cannot_be_written_is_one_sentence(fan: Fan, way: str, words: list[str]) -> None:
    """Exit 1 and what was not done; no traceback, no bug, and not Python's 120 at its end.

    Goes red when only a reader that left is foreseen, or a stream that is closed from the start is not.
    """
    assert fan.run("mail", "send", "human", "Hello").code == 0
    result = refused(fan, way, *words)
    assert result.code == 1, result
    first, second = result.err.splitlines()
    assert first.startswith("fan: the result cannot be written to standard output: ")
    assert second == "not done: the result was not written out; what was asked for is done"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("unread", [[], ["--json"], ["--limit", "1"]])
def test_mail_that_could_not_be_written_out_stays_unread(fan: Fan, way: str, unread: list[str]) -> None:
    """A send whose receipt is lost is said to be done, and is; what a read could not show counts as unread."""
    sent = refused(fan, way, "mail", "send", "human", "Hello")
    assert (sent.code, "what was asked for is done" in sent.err) == (1, True)
    assert refused(fan, way, "mail", "read", "human", "--unread", *unread).code == 1
    assert [one["body"] for one in fan.run("mail", "read", "--unread", "--json").json["messages"]] == ["Hello"]


@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_that_scripts_cannot_get_is_told_on_standard_error(fan: Fan, way: str) -> None:
    """With --json and nowhere to write it, the error's own words and exit code are still there."""
    result = refused(fan, way, "ls", "--group", "nope", "--json")
    assert (result.code, result.err.splitlines()[0]) == (1, "fan: there is no group `nope`")


def test_where_standard_error_takes_nothing_the_result_stands(fan: Fan) -> None:
    """A warning that nobody can be told changes no exit code."""
    assert fan.run("mail", "send", "human", "Hello").code == 0
    for way in ("2>&-", f"2<{os.devnull}"):
        result = refused(fan, way, "ls")
        assert (result.code, result.err) == (0, "")
