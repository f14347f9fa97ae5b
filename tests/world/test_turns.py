"""Turns at the store and at tmux, when whoever has one is stopped or killed within it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from fan.core.model import Change, State
from fan.errors import Busy, StoreFailed
from fan.world.store import connection
from fan.world.store import turn as queue
from fan.world.store.records import Store
from fan.world.store.turn import Turn
from fan.world.tmux import turns
from tests.support.cli import ROOT
from tests.support.tmux import Ground
from tests.support.wait import eventually

WRITER = """
import sys
from pathlib import Path
from fan.world.store.turn import Turn
with Turn(Path(sys.argv[1])).taken():
    print("in", flush=True)
    sys.stdin.readline()
"""
WAITER = """
import sys
from contextlib import contextmanager
from pathlib import Path
from fan.world.store import turn
wait = turn._asleep
@contextmanager
def told(bell):
    with wait(bell) as sleep:
        print("in", flush=True)
        yield sleep
turn._asleep = told
with turn.Turn(Path(sys.argv[1])).taken():
    pass
"""
HOLDER = """
import sys
from pathlib import Path
from fan.world.store.records import Store
with Store(Path(sys.argv[1]))._write():
    print("in", flush=True)
    sys.stdin.readline()
"""
CHANGER = """
import sys
from pathlib import Path
from fan.world.tmux.turns import turn
with turn(Path(sys.argv[1]), connecting=sys.argv[2] == "connecting"):
    print("in", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def beside(code: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has said it is where it should be, and stays there until it gets a line."""
    pipe = subprocess.PIPE
    argv = [sys.executable, "-c", code, *words]
    with subprocess.Popen(argv, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "in\n"
            yield other
        finally:
            other.kill()


def leaves(other: subprocess.Popen[str]) -> None:
    """Its turn is over."""
    other.communicate("\n", timeout=10)


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One item for each of our threads that has begun to wait for a turn."""
    begun: list[int] = []
    wait = queue._asleep

    @contextmanager
    def told(bell: int) -> Iterator[Callable[[float], object]]:
        with wait(bell) as sleep:
            begun.append(bell)
            yield sleep

    monkeypatch.setattr(queue, "_asleep", told)
    return begun


def write(store: Store) -> None:
    """Something small."""
    store.add_change(Change("m", State.REST, "", "", "screen", 5.0))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "s")
    yield store
    store.close()


def test_a_writer_stopped_in_its_turn_holds_nobody_up_for_ever(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others write without a turn once their patience is over; when it has gone on, all is as before.

    Red when the wait has no end.
    """
    monkeypatch.setattr(queue, "PATIENCE", 0.4)
    with beside(WRITER, str(store.folder)) as stopped:
        stopped.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        write(store)
        assert 0.4 <= time.monotonic() - begun < 3
        assert store.last_changes()["m"].state is State.REST
        stopped.send_signal(signal.SIGCONT)
        leaves(stopped)
    begun = time.monotonic()
    write(store)
    assert time.monotonic() - begun < 0.4


def test_a_writer_stopped_while_it_writes_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite itself lets nobody write then: after its patience it is refused in a sentence that says what to do."""
    monkeypatch.setattr(queue, "PATIENCE", 0.2)
    monkeypatch.setattr(connection, "BUSY_MS", 200)
    store = Store(tmp_path / "s")
    with beside(HOLDER, str(store.folder)) as stopped:
        stopped.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreFailed, match="has to go on first") as refused:
            write(store)
        assert (refused.value.not_done, refused.value.hint) == ("the last step is not on record", "fg")
        stopped.send_signal(signal.SIGCONT)
        leaves(stopped)
    write(store)
    store.close()


def test_a_writer_killed_in_its_turn_is_not_waited_for(store: Store, asleep: list[int]) -> None:
    """Nobody rings for it: the next one finds out by itself, long before its patience is over."""
    writes = threading.Thread(target=write, args=(store,))
    with beside(WRITER, str(store.folder)) as killed:
        writes.start()
        eventually(lambda: asleep)
        killed.kill()
        begun = time.monotonic()
        writes.join()
    assert time.monotonic() - begun < queue.PATIENCE / 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the bell wakes all, and the quickest is next")
def test_turns_come_in_the_order_of_those_who_wait(
    store: Store, asleep: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has waited longest is woken, alone, by each who leaves.

    Red when nobody rings, or when the bell wakes all of them.
    """
    monkeypatch.setattr(queue, "LOOK_AGAIN", 60.0)
    monkeypatch.setattr(queue, "PATIENCE", 60.0)
    came: list[int] = []

    def waits(number: int) -> None:
        with Turn(store.folder).taken():
            came.append(number)

    with beside(WRITER, str(store.folder)) as first:
        threads = [threading.Thread(target=waits, args=(number,)) for number in range(6)]
        for number, thread in enumerate(threads, 1):
            thread.start()
            eventually(lambda number=number: len(asleep) == number)  # type: ignore[misc]
        leaves(first)
        for thread in threads:
            thread.join(10)
    assert came == list(range(6))


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_waiter_that_is_stopped_or_killed_is_passed_over(
    store: Store, asleep: list[int], monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    """It has waited longest, and the bell wakes those behind it all the same."""
    monkeypatch.setattr(queue, "LOOK_AGAIN", 4.0)
    with beside(WRITER, str(store.folder)) as first, beside(WAITER, str(store.folder)) as waiter:
        waiter.send_signal(how)
        eventually(lambda: psutil.Process(waiter.pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE))
        writes = threading.Thread(target=write, args=(store,))
        writes.start()
        eventually(lambda: asleep)
        begun = time.monotonic()
        leaves(first)
        writes.join()
        assert time.monotonic() - begun < 3


def test_no_session_changes_while_a_stopped_process_connects(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """tmux might die of it with all sessions: it is refused, with who is in the way; gone on with, all is as before.

    Red when the wait has no end, or when patience lets it through.
    """
    pane = ground.open()
    monkeypatch.setattr(turns, "PATIENCE", 0.3)
    with beside(CHANGER, str(ground.socket), "connecting") as stopped:
        stopped.send_signal(signal.SIGSTOP)
        with pytest.raises(Busy, match=f"process {stopped.pid} has been connecting") as refused:
            ground.open(name="two")
        assert refused.value.not_done == "no session was changed"
        assert refused.value.hint.endswith(f"kill -CONT {stopped.pid}")
        with pytest.raises(Busy):
            ground.tmux.end_session(pane.session_id)
        assert [one.session for one in ground.tmux.panes()] == [pane.session]
        stopped.send_signal(signal.SIGCONT)
        leaves(stopped)
    ground.open(name="two")
    assert len(ground.tmux.panes()) == 2


def test_nobody_connects_while_a_stopped_process_changes_sessions(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be continued in that very moment: connecting is refused, and other sessions come and go."""
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    monkeypatch.setattr(turns, "PATIENCE", 0.3)
    with beside(CHANGER, str(ground.socket), "changing") as stopped:
        stopped.send_signal(signal.SIGSTOP)
        with pytest.raises(Busy, match="changing a session"):
            ground.tmux.watch()
        ground.open(name="two")
        stopped.kill()
        stopped.wait()
    ground.tmux.watch().close()
