"""What a start costs in CPU, as a ratio to `python -c pass`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fan.world.store.connection import connect
from tests.bench.measure import cost, medians, process, told
from tests.support.cli import PROGRAM, Fan

pytestmark = pytest.mark.bench
ROUNDS = 25
HOT, OTHER = 2.5, 12.0


def _told(name: str, words: list[str], env: dict[str, str], cwd: Path, budget: float) -> None:
    bare = process([sys.executable, "-c", "pass"], env, cwd)
    ours = process([*PROGRAM, *words], env, cwd, stdin=b'{"prompt": "x"}')
    own, floor = medians(lambda: cost(ours), lambda: cost(bare), ROUNDS)
    told(name, own.cpu, floor.cpu, budget, "ms of CPU")


def test_a_report_of_a_member_is_quick(fan: Fan) -> None:
    """A hook's report that is stored costs at most 2.5 times python."""
    db = connect(str(fan.state))
    db.execute("INSERT INTO groups VALUES ('g','s','r','b','o','p',0,0,0,NULL)")
    db.execute("INSERT INTO members VALUES ('m','g',1,'b','p','s','a','v','o','ready','','','','L',0,0,0,0,NULL)")
    hook = fan.env | {"FAN_MEMBER": "m", "FAN_LAUNCH": "L", "FAN_PANE": "%1"}
    _told("fan report", ["report", "rest"], hook, fan.folder, HOT)
    assert db.execute("SELECT COUNT(*) FROM reports").fetchone() == (ROUNDS + 1,)


@pytest.mark.parametrize(
    "words", [["--help"], ["3", "--help"], ["ls", "--help"], ["config"], ["recipe", "ls"], ["ls"]], ids=" ".join
)
def test_any_other_verb_starts_soon(fan: Fan, words: list[str]) -> None:
    """Help and verbs with nothing to do cost at most 12 times python."""
    _told(f"fan {' '.join(words)}", words, fan.env, fan.repos.repo(), OTHER)
