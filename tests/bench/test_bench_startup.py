"""What a start costs, as a ratio to `python -c pass`, both measured in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fan.world.store.connection import connect
from tests.support.cli import PROGRAM, Fan

pytestmark = pytest.mark.bench
ROUNDS = 15
HOT, OTHER = 2.5, 12.0


def _cpu(argv: Sequence[str], env: dict[str, str], cwd: Path) -> float:
    """CPU seconds, user and system, of one run."""
    process = subprocess.Popen(
        argv, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    process.stdin.write(b'{"prompt": "x"}')
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def _ratio(argv: Sequence[str], env: dict[str, str], cwd: Path) -> float:
    """The medians' ratio of `argv` and `python -c pass`, run in turn."""
    pairs = [(_cpu([sys.executable, "-c", "pass"], env, cwd), _cpu(argv, env, cwd)) for _ in range(ROUNDS)]
    floor = statistics.median(pair[0] for pair in pairs)
    ours = statistics.median(pair[1] for pair in pairs)
    print(
        f"{' '.join(argv[3:])}: {ours * 1000:.1f} ms, {ours / floor:.2f} times python -c pass ({floor * 1000:.1f} ms)"
    )
    return ours / floor


def test_a_report_of_a_member_is_quick(fan: Fan) -> None:
    """A hook's report that is stored costs at most 2.5 times python."""
    db = connect(str(fan.state))
    db.execute("INSERT INTO groups VALUES ('g','s','r','b','o','p',0,0,0,NULL)")
    db.execute("INSERT INTO members VALUES ('m','g',1,'b','p','s','a','v','o','ready','','','','L',0,0,0,0,NULL)")
    hook = fan.env | {"FAN_MEMBER": "m", "FAN_LAUNCH": "L", "FAN_PANE": "%1"}
    ratio = _ratio([*PROGRAM, "report", "rest"], hook, fan.folder)
    assert db.execute("SELECT COUNT(*) FROM reports").fetchone() == (ROUNDS,)
    assert ratio <= HOT


@pytest.mark.parametrize("words", [["--help"], ["3", "--help"], ["config"], ["recipe", "ls"], ["ls"]])
def test_any_other_verb_starts_soon(fan: Fan, words: list[str]) -> None:
    """Help and verbs with nothing to do cost at most 12 times python."""
    repo = fan.repos.repo()
    assert _ratio([*PROGRAM, *words], fan.env, repo) <= OTHER
