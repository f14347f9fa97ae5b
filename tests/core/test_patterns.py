"""Patterns mean what git means by them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fan.core.patterns import covers, fits, parse, spells_out

NAMES = ("a", "b.local", ".env", "a1", "ab", "x y", "[z]", "!n", "#c")
PATHS = tuple("/".join(parts) for parts in ((x,) for x in NAMES)) + tuple(f"{x}/{y}" for x in "ab" for y in NAMES)
PIECES = st.sampled_from(["a", "b", ".env", "*", "?", "**", "[ab]", "[!a]", "*.local", "a*", "x y", r"\!n", r"\#c"])
LINES = st.builds(
    lambda lead, parts, tail: lead + "/".join(parts) + tail,
    st.sampled_from(["", "/", "!"]),
    st.lists(PIECES, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


@pytest.mark.parametrize(
    ("lines", "path", "folder", "meant"),
    [
        ([".env"], "src/.env", False, True),
        (["/.env"], "src/.env", False, False),
        (["config/*.local"], "config/b/a.local", False, False),
        (["a/**/b"], "a/b", False, True),
        (["a/**/b"], "a/q/r/b", False, True),
        (["build/"], "build", False, False),
        (["build/"], "build", True, True),
        ([".env*", "!.env.example"], ".env.example", False, False),
        ([".env*", "!.env.example"], ".env.local", False, True),
        (["# .env", "", "  "], ".env", False, False),
        (["[!ab].c"], "a.c", False, False),
    ],
)
def test_patterns_mean_what_they_say(lines: list[str], path: str, folder: bool, meant: bool) -> None:
    """One line of the table is one rule of a `.gitignore`."""
    assert fits(parse(lines), path, folder=folder) is meant


@pytest.mark.parametrize("line", ["..", "../x", "a/../b", "/", "!"])
def test_a_way_out_of_the_repository_is_refused(line: str) -> None:
    """A pattern that is no path inside is an error, not silence."""
    with pytest.raises(ValueError, match="no path inside"):
        parse([line])


def test_names_are_spelled_out_letter_for_letter() -> None:
    """A star does not spell out what it fits, and what is taken back is not asked for."""
    assert spells_out(parse(["web/node_modules/"]), "node_modules")
    assert not spells_out(parse(["*"]), "node_modules")
    assert not spells_out(parse(["!node_modules"]), "node_modules")


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with no excludes but what a test writes."""
    top = tmp_path_factory.mktemp("patterns")
    _git(top, "init", "--quiet")
    return top


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=3))
def test_git_agrees(top: Path, lines: list[str]) -> None:
    """For any patterns and paths, what we take for meant is exactly what git would ignore.

    Red when a star crosses a slash, or an anchored pattern fits further down.
    """
    (top / ".git" / "info" / "exclude").write_text("\n".join(lines) + "\n")
    told = _git(top, "check-ignore", "--no-index", "--stdin", "-z", feed="".join(f"{path}\0" for path in PATHS))
    patterns = parse(lines)
    assert [path for path in PATHS if covers(patterns, path)] == [path for path in PATHS if path in told.split("\0")]


def _git(top: Path, *words: str, feed: str = "") -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(top), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", *words], cwd=top, env=env, input=feed, capture_output=True, text=True, check=False
    ).stdout
