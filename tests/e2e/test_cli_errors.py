"""How failures are told: one line, its exit code, one JSON object."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from fan.cli import reference
from fan.cli.failing import guarded
from fan.cli.spoken import Spoken
from fan.errors import FanError, NotFound
from tests.support.cli import PROGRAM, ROOT, Fan

PLAIN, JSON = Spoken("fan", as_json=False), Spoken("fan", as_json=True)


def _raise(error: BaseException) -> int:
    raise error


def test_a_refusal_says_what_what_not_and_what_next(capfd: pytest.CaptureFixture[str]) -> None:
    """Three lines on standard error with brackets kept, nothing on standard output."""
    error = NotFound("no [red]x[/]", not_done="nothing was made", hint="fan ls")
    assert guarded(lambda: _raise(error), PLAIN) == 1
    out, err = capfd.readouterr()
    assert (out, err) == ("", "fan: no [red]x[/]\nnot done: nothing was made\nnext: fan ls\n")


def test_with_json_a_refusal_is_one_object_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    """The error object has four keys and nothing stands beside it."""
    assert guarded(lambda: _raise(NotFound("no x", hint="fan ls")), JSON) == 1
    out, err = capfd.readouterr()
    assert json.loads(out) == {"error": {"code": "not_found", "message": "no x", "not_done": "", "hint": "fan ls"}}
    assert err == ""


@pytest.mark.parametrize("spoken", [PLAIN, JSON])
def test_a_bug_names_a_log_that_holds_the_traceback(
    spoken: Spoken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Exit 4, a log file with the traceback, and its name in the message; red when the log is not written."""
    monkeypatch.setenv("FAN_STATE_DIR", str(tmp_path))
    assert guarded(lambda: 1 // 0, spoken) == 4
    (log,) = (tmp_path / "logs").iterdir()
    assert "ZeroDivisionError" in log.read_text()
    out, err = capfd.readouterr()
    told = json.loads(out)["error"]["message"] if spoken.as_json else err
    assert str(log) in told
    assert "Traceback" not in out + err


def test_an_interrupt_is_130(capfd: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C is no bug."""
    assert guarded(lambda: _raise(KeyboardInterrupt()), PLAIN) == 130


def test_every_code_is_one_errors_own() -> None:
    """No two kinds of refusal share a code, and each exit code is in the table."""
    codes = [kind.code for kind in reference.all_errors()]
    assert len(codes) == len(set(codes))
    assert {kind.exit_code for kind in reference.all_errors()} <= set(reference.EXIT_CODES)
    assert FanError in reference.all_errors()


@pytest.mark.parametrize("name", ["verbs", "errors"])
def test_generated_documents_are_up_to_date(name: str) -> None:
    """docs/*.md are what the program says of itself; written anew by `python -m fan.cli.reference`."""
    assert (ROOT / "docs" / f"{name}.md").read_text() == getattr(reference, name)()


@pytest.mark.field("B076")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lss"], "usage"),
        (["ls", "--nope"], "usage"),
        (["0", "--agent", "demo", "x"], "usage"),
        (["65", "--agent", "demo", "x"], "usage"),
        (["2", "--agent", "no-such-agent", "x"], "not_found"),
        (["2", "--agent", "demo", "--prompt-file", "missing"], "disk_failed"),
        (["ls", "--group", "none"], "not_found"),
    ],
)
def test_a_failure_with_json_is_one_value_and_a_failing_exit_code(fan: Fan, words: list[str], code: str) -> None:
    """Whatever goes wrong, standard output is one JSON error object and the exit code is not 0."""
    result = fan.run(*words, "--json")
    assert result.json["error"]["code"] == code
    assert result.code == (2 if code == "usage" else 1)
    assert result.err == ""


def test_an_unknown_verb_names_the_near_ones(fan: Fan) -> None:
    """A slip of the finger is answered with what was probably meant."""
    result = fan.run("lss")
    assert (result.code, result.out) == (2, "")
    assert "Did you mean 'ls'" in result.err
    assert "-m fan --help" in result.err


@pytest.mark.parametrize("words", [["--help"], ["ls", "--help"], ["ls"]])
def test_a_reader_that_leaves_is_no_error(fan: Fan, words: list[str]) -> None:
    """`fan ... | head -0` ends quietly and well; red when the broken pipe is not caught, or taken for a failure."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*PROGRAM, *words], env=fan.env, cwd=fan.folder, stdout=writer, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writer)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"bug" not in done.stderr


@pytest.mark.field("B040")
def test_without_a_locale_accents_go_in_and_out_whole(fan: Fan) -> None:
    """With no locale and UTF-8 mode off, a name with Cyrillic letters is answered letter by letter."""
    bare = {"LANG": "", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = fan.run("ls", "--group", "ветка-ü", env=bare)
    assert "ветка-ü" in result.err
