"""What `fan doctor` and `fan recipe show` say of the agents that are installed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Fan


@pytest.fixture
def programs(fan: Fan) -> Path:
    """A folder at the head of PATH."""
    folder = fan.folder / "programs"
    folder.mkdir()
    fan.env["PATH"] = os.pathsep.join([str(folder), fan.env["PATH"]])
    return folder


def install(folder: Path, name: str, script: str) -> None:
    """An agent by this name that does no more than this."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o700)


def check(fan: Fan, name: str) -> dict[str, Any]:
    """What the doctor says of one thing."""
    found = fan.run("doctor", "--json")
    assert found.code == 0, found.out
    return next(one for one in found.json["checks"] if one["name"] == name)


def test_a_version_that_the_recipe_does_not_know_is_a_note(fan: Fan, programs: Path) -> None:
    """The recorded version is well without a word; another one is well too, and named beside the recorded ones.

    Red when drift is an error, or goes unsaid.
    """
    (known,) = fan.run("recipe", "show", "claude", "--json").json["entry"]["recorded"]
    install(programs, "claude", f"echo '{known} (Claude Code)'")
    same = check(fan, "agent claude")
    assert (same["ok"], same["found"], same["warning"]) == (True, known, "")
    install(programs, "claude", "echo 'an update is there' >&2; echo '99.1.0 (Claude Code)'")
    newer = check(fan, "agent claude")
    assert (newer["ok"], newer["found"]) == (True, "99.1.0")
    assert f"recorded on {known}" in newer["warning"]
    line = next(line for line in fan.run("doctor").out.splitlines() if "agent claude" in line)
    assert line.split()[:4] == ["note", "agent", "claude", "99.1.0;"]


def test_a_recipe_is_shown_with_the_version_beside_it(fan: Fan, programs: Path) -> None:
    """On standard error: what standard output gives is the recipe, to be kept as a file."""
    install(programs, "claude", "echo '99.1.0 (Claude Code)'")
    shown = fan.run("recipe", "show", "claude")
    assert shown.err.startswith("installed: 99.1.0; its recipe was recorded on ")
    (fan.folder / "claude.toml").write_text(shown.out)
    assert fan.run("recipe", "check", str(fan.folder / "claude.toml")).code == 0
    assert fan.run("recipe", "show", "demo").err == ""


def test_a_program_that_does_not_answer_holds_nothing_up(fan: Fan, programs: Path) -> None:
    """Two that hang, with children that keep their output open, cost the time of one; both are named and ended.

    Red when they are asked one after the other, or without a time limit.
    """
    for name in ("claude", "codex"):
        install(programs, name, "sleep 1000 & sleep 1000")
    begun = time.monotonic()
    found = {one["name"]: one for one in fan.run("doctor", "--json", timeout=30).json["checks"]}
    assert time.monotonic() - begun < 9
    for name in ("claude", "codex"):
        assert found[f"agent {name}"]["ok"]
        assert "cannot be told" in found[f"agent {name}"]["warning"]
    assert not fan.processes()


def test_words_that_are_no_version_are_said_to_be_none(fan: Fan, programs: Path) -> None:
    """Another program of that name, or one that cannot be run, is a note as well."""
    install(programs, "claude", "echo hello")
    install(programs, "codex", "exit 1")
    (programs / "codex").write_text("#!/no/such/interpreter\n")
    for name in ("claude", "codex"):
        assert "cannot be told" in check(fan, f"agent {name}")["warning"]
