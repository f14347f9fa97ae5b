"""A folder above a member that may not be entered: as the whole command sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PROGRAM, Fan

pytestmark = pytest.mark.timeout(180)

POWERLESS = """\
import ctypes, os, sys
if sys.platform == "linux":  # without root's right to pass by the modes of files; who is not root has none
    for right in (1, 2):
        ctypes.CDLL(None).prctl(24, right)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(params=["it", "above"])
def closed(fan: Fan, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A worktree made by hand that was adopted, and then its folder, or the one above it, was closed."""
    repo = fan.repos.repo()
    tree = fan.repos.home / "closed" / "tree"
    tree.parent.mkdir()
    folder = tree if request.param == "it" else tree.parent
    fan.repos.git(repo, "worktree", "add", "--quiet", "-b", "handy", str(tree))
    assert fan.run("worktree", "adopt", str(tree), cwd=repo).code == 0
    assert fan.run("worktree", "new", "other", "--group", "handy", cwd=repo).code == 0
    folder.chmod(0)
    yield repo
    with suppress(FileNotFoundError):
        folder.chmod(0o700)


def answered(fan: Fan, repo: Path, *words: str) -> tuple[int, Any]:
    """Exit code and answer of a verb that is called by somebody without root's rights."""
    done = subprocess.run(
        [sys.executable, "-c", POWERLESS, *PROGRAM, *words, "--json"],
        cwd=repo,
        env=fan.env,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_closed_folder_breaks_no_verb(fan: Fan, closed: Path) -> None:
    """Every verb that looks at members answers; the one that cannot be looked at says so and stays.

    Red when a look at a folder raises, or takes a closed one for one that is gone.
    """
    for words in (("ls",), ("ls", "--all"), ("worktree", "ls")):
        code, rows = answered(fan, closed, *words)
        told = {row["branch"]: row for row in rows if row["id"]}
        assert (code, set(told)) == (0, {"handy", "other"})
        assert "cannot be looked at: Permission denied" in told["handy"]["detail"]
        assert (told["handy"]["gone"], told["other"]["changes"]) == (False, 0)
    code, compared = answered(fan, closed, "compare", "handy")
    assert (code, [bool(one["problem"]) for one in compared["members"]]) == (5, [True, False])
    for refusing in (["keep", "handy"], ["keep", "handy", "--merge"], ["worktree", "diff", "handy"]):
        code, refused = answered(fan, closed, *refusing)
        assert code == 1, refused
    code, removed = answered(fan, closed, "group", "rm", "handy")
    assert (code, [row["branch"] for row in removed["removed"]]) == (5, ["other"])
    assert "cannot be looked at" in removed["left"][0]["reason"]
    assert answered(fan, closed, "undo")[0] == 0
    for folder in (fan.repos.home / "closed", fan.repos.home / "closed" / "tree"):
        folder.chmod(0o700)
    assert fan.run("group", "rm", "handy", cwd=closed).code == 0
