"""`fan ls` with plain flags goes around the parser, which costs a third of its time: nobody may notice."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import pytest

from fan.cli import app, listing
from fan.cli.reference import commands
from fan.verbs.listing import ListRequest
from tests.support.cli import Fan

SETS = [words for count in range(5) for words in combinations(sorted(listing.FLAGS), count)]


@pytest.mark.parametrize("flags", SETS, ids=" ".join)
def test_flags_mean_the_same_with_and_without_the_parser(
    flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways ask for the same members in the same form. Fails when a flag is taken for another, or forgotten."""
    asked: list[tuple[ListRequest, bool]] = []

    def show(request: ListRequest, *, as_json: bool) -> int:
        asked.append((request, as_json))
        return 0

    monkeypatch.setattr(listing, "show", show)
    assert (listing.run(["ls", *flags]), app.run(["ls", *flags])) == (0, 0)
    assert asked[0] == asked[1]


def test_only_plain_flags_of_ls_go_around_the_parser() -> None:
    """Every flag is one of the parser's own; what takes a value, asks for help or is wrong goes to the parser."""
    known = {name for param in dict(commands(app.program()))["fan ls"].params for name in param.opts}
    assert known >= listing.FLAGS
    assert listing.is_plain(["ls", *listing.FLAGS])
    others = ("", "ls --help", "ls --group x", "ls --watch", "ls --al", "worktree ls")
    assert not any(listing.is_plain(words.split()) for words in others)


def test_plain_ls_loads_nothing_heavy(fan: Fan) -> None:
    """`fan ls` starts without the parser, git's and tmux's object layers, rich and psutil."""
    code = "import sys, fan.__main__ as it; sys.argv[1:] = ['ls']\ntry: it.main()\nfinally: print(*sys.modules)"
    argv = [sys.executable, "-P", "-c", code]
    done = subprocess.run(argv, env=fan.env, cwd=fan.repos.repo(), capture_output=True, text=True, check=True)
    heavy = {"typer", "git", "libtmux", "rich", "psutil", "tenacity", "filelock", "logging", "asyncio"}
    assert heavy.isdisjoint(done.stdout.split())
