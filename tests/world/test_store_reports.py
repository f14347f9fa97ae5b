"""What hooks report, and what is dropped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.model import Group, Member, State, Step
from fan.errors import StoreFailed
from fan.world.store import reports
from fan.world.store.connection import NAME, connect
from fan.world.store.records import Store
from fan.world.store.reports import KEPT, LARGEST_PAYLOAD, report, ring

GROUP = Group("g", "fan/x", Path("/r"), "main", "a", "p", 0.0, 1, 0.0)
ONE = Member("one", "g", 1, "fan/x", Path("/w1"), "s1", "demo", "", "a", Step.READY, pane="%1", launch="l1")
TWO = Member("two", "g", 2, "fan/x-2", Path("/w2"), "s2", "demo", "", "a", Step.READY, pane="%2", launch="l2")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store(tmp_path / "state")
    found.add_group(GROUP, [ONE, TWO], [])
    yield found
    found.close()


def env(store: Store, member: Member = ONE, /, **changes: str) -> dict[str, str]:
    """The environment of a member's agent."""
    own = {"FAN_MEMBER": member.id, "FAN_LAUNCH": member.launch, "FAN_PANE": member.pane}
    return {"FAN_STATE_DIR": str(store.folder), "FAN_RUNTIME_DIR": str(store.folder), **own, **changes}


def dropped(store: Store) -> list[tuple[str, str]]:
    """The members and reasons of reports that do not count."""
    db = connect(str(store.folder))
    found = db.execute("SELECT member, dropped FROM reports WHERE dropped != '' ORDER BY seq").fetchall()
    db.close()
    return [(str(member), str(why)) for member, why in found]


def test_an_agents_own_report_is_stored(store: Store) -> None:
    """State, kind, payload and time, under its member and launch; nobody else's state changes."""
    report(env(store), "needs_input", "permission", '{"a": "ü"}')
    found = store.last_reports([ONE, TWO])
    assert set(found) == {"one"}
    assert (found["one"].state, found["one"].kind, found["one"].payload) == (
        State.NEEDS_INPUT,
        "permission",
        '{"a": "ü"}',
    )
    assert found["one"].at > 1e9
    assert store.reports_since(ONE, 0) == [found["one"]]
    assert store.reports_since(ONE, found["one"].seq) == []
    assert store.reports_since(TWO, 0) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"FAN_LAUNCH": "l2"}, "another launch"),
        ({"FAN_LAUNCH": ""}, "another launch"),
        ({"FAN_PANE": "%2"}, "another pane"),
        ({"FAN_PANE": ""}, "another pane"),
    ],
)
def test_a_foreign_report_is_dropped_and_noted(store: Store, changes: dict[str, str], why: str) -> None:
    """B043: from another pane, another launch or without any it changes nothing, and the reason is kept."""
    report(env(store), "rest", "", "")
    report(env(store, **changes), "working", "", "")
    assert store.last_reports([ONE])["one"].state is State.REST
    assert dropped(store) == [("one", why)]


@pytest.mark.parametrize(
    "changes",
    [{"FAN_MEMBER": ""}, {"FAN_MEMBER": "nobody"}, {"FAN_STATE_DIR": ""}, {"FAN_STATE_DIR": "/nowhere/else"}],
)
def test_outside_of_a_launch_of_ours_nothing_happens(store: Store, changes: dict[str, str]) -> None:
    """An agent that a person started by hand has our hooks too: no error, no record, no folder made."""
    report(env(store, **changes), "rest", "", "")
    assert dropped(store) == []
    assert store.last_reports([ONE]) == {}
    assert not Path("/nowhere").exists()


def test_a_word_that_is_no_state_is_ignored(store: Store) -> None:
    """`unknown` is what we say when nobody does; no agent reports it."""
    for word in ("unknown", "idle", ""):
        report(env(store), word, "", "")
    assert store.reports_since(ONE, 0) == []


def test_an_earlier_launch_says_nothing_about_this_one(store: Store) -> None:
    """After a new launch the old reports do not count."""
    report(env(store), "working", "", "")
    now = store.update_member("one", launch="l1b")
    assert store.last_reports([now]) == {}
    assert store.reports_since(now, 0) == []


def test_the_payload_is_cut(store: Store) -> None:
    """At its bound and no earlier."""
    report(env(store), "working", "", "x" * (LARGEST_PAYLOAD + 5))
    assert store.reports_since(ONE, 0)[0].payload == "x" * LARGEST_PAYLOAD


def test_the_newest_reports_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound for each member: red when one member's many reports push out another's few."""
    assert KEPT >= 100
    monkeypatch.setattr(reports, "KEPT", 5)
    report(env(store, TWO), "working", "", "kept")
    for n in range(12):
        report(env(store), "working", "", str(n))
    report(env(store, TWO), "rest", "", "")
    assert [one.payload for one in store.reports_since(ONE, 0)] == [str(n) for n in range(7, 12)]
    assert [one.payload for one in store.reports_since(TWO, 0)] == ["kept", ""]


def test_dropped_reports_push_nobody_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """B043: a nested agent with many hooks changes nothing; red when what is dropped counts towards the bound."""
    monkeypatch.setattr(reports, "KEPT", 3)
    report(env(store), "working", "", "")
    for _ in range(8):
        report(env(store, FAN_PANE="%9"), "rest", "", "")
    assert store.last_reports([ONE])["one"].state is State.WORKING
    assert len(dropped(store)) == 3


AGENT = """
import os, subprocess, sys
print(os.getpid(), flush=True)
sys.stdin.readline()
hook = "from fan.world.store.reports import report; import os; report(os.environ, 'working', '', '')"
nested = f'import subprocess, sys; subprocess.run([sys.executable, "-c", {hook!r}], check=True)'
subprocess.run([sys.executable, "-c", nested if sys.argv[1] == "nested" else hook], check=True)
"""


@pytest.mark.skipif(not Path("/proc/self/exe").exists(), reason="told by /proc, which is Linux's")
@pytest.mark.parametrize(
    ("how", "stands", "why"),
    [("own", True, None), ("nested", True, "a nested agent"), ("own", False, "not below the pane's program")],
)
def test_only_the_agent_in_the_pane_is_believed(store: Store, how: str, stands: bool, why: str | None) -> None:
    """Its own hook counts; that of an agent below it, or of a stranger with its variables, is dropped."""
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | env(store),
    )
    assert agent.stdout is not None
    pid = int(agent.stdout.readline())
    sleeper = subprocess.Popen(["sleep", "60"])
    store.update_member("one", pane="%1", pid=pid if stands else sleeper.pid)
    agent.communicate("\n", timeout=30)
    sleeper.kill()
    sleeper.wait()
    assert agent.returncode == 0
    assert dropped(store) == ([] if why is None else [("one", why)])
    assert len(store.reports_since(ONE, 0)) == (1 if why is None else 0)


def test_a_damaged_store_is_told_and_kept(store: Store) -> None:
    """A hook's report neither repairs nor replaces it."""
    store.close()
    (store.folder / NAME).write_bytes(b"x" * 5000)
    with pytest.raises(StoreFailed):
        report(env(store), "rest", "", "")
    assert (store.folder / NAME).read_bytes() == b"x" * 5000


def test_a_report_rings_the_courier(store: Store) -> None:
    """One byte at the fifo of the runtime folder."""
    bell = store.folder / "bell"
    os.mkfifo(bell)
    listening = os.open(bell, os.O_RDWR | os.O_NONBLOCK)
    report(env(store), "rest", "", "")
    assert os.read(listening, 10) == b"."
    os.close(listening)


def test_ringing_never_waits(tmp_path: Path) -> None:
    """Nobody there, nobody listening, or a fifo that is full: it returns at once and raises nothing."""
    ring(str(tmp_path / "nowhere"))
    bell = tmp_path / "bell"
    os.mkfifo(bell)
    ring(str(bell))
    listening = os.open(bell, os.O_RDWR | os.O_NONBLOCK)
    for _ in range(70_000):
        ring(str(bell))
    os.close(listening)
