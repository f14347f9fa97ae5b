"""What a start costs in CPU, as a ratio to `python -c pass`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fan.core.model import Group, Member, Step
from fan.world.store.records import Store
from tests.bench.measure import cost, medians, process, told
from tests.support.cli import PROGRAM, Fan

pytestmark = pytest.mark.bench
ROUNDS = 15
HOT, OTHER = 2.5, 12.0


def _told(name: str, words: list[str], env: dict[str, str], cwd: Path, budget: float) -> None:
    bare = process([sys.executable, "-c", "pass"], env, cwd)
    ours = process([*PROGRAM, *words], env, cwd, stdin=b'{"prompt": "x"}')
    own, floor = medians(lambda: cost(ours), lambda: cost(bare), ROUNDS)
    told(name, own.cpu, floor.cpu, budget, "ms of CPU")


def test_a_report_of_a_member_is_quick(fan: Fan) -> None:
    """A hook's report that is stored costs at most 2.5 times python."""
    store = Store(fan.state)
    member = Member("m", "g", 1, "b", Path("p"), "s", "a", "", "o", Step.READY, launch="L")
    store.add_group(Group("g", "s", Path("r"), "b", "o", "p", 0.0, 0, 0.0), [member], [])
    hook = fan.env | {"FAN_MEMBER": "m", "FAN_LAUNCH": "L", "FAN_PANE": "%1"}
    _told("fan report", ["report", "rest"], hook, fan.folder, HOT)
    assert len(store.reports_since(member, 0)) == ROUNDS + 1


def test_a_look_into_an_empty_inbox_is_quick(fan: Fan) -> None:
    """An agent's look whether mail has come costs at most 2.5 times python when none has."""
    store = Store(fan.state)
    member = Member("m", "g", 1, "b", Path("p"), "s", "a", "", "o", Step.READY, launch="L")
    store.add_group(Group("g", "s", Path("r"), "b", "o", "p", 0.0, 0, 0.0), [member], [])
    agent = fan.env | {"FAN_MEMBER": "m", "FAN_LAUNCH": "L", "FAN_PANE": "%1"}
    _told("fan mail read --unread, empty", ["mail", "read", "--unread"], agent, fan.folder, HOT)


@pytest.mark.parametrize(
    "words", [["--help"], ["3", "--help"], ["ls", "--help"], ["config"], ["recipe", "ls"], ["ls"]], ids=" ".join
)
def test_any_other_verb_starts_soon(fan: Fan, words: list[str]) -> None:
    """Help and verbs with nothing to do cost at most 12 times python."""
    _told(f"fan {' '.join(words)}", words, fan.env, fan.repos.repo(), OTHER)
