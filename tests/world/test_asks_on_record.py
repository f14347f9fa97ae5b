"""Asks and events in the store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fan.core.asks import Ask
from fan.core.events import gaps_told
from fan.core.model import Change, Delivery, State
from fan.world.store.records import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "s")
    yield store
    store.close()


def _ask(asker: str, target: str, pid: int = 1) -> Ask:
    return Ask(f"{asker}-{target}", asker, target, 0, pid, 5.0, 9.0)


def _everybody(_pid: int, _started: float) -> bool:
    return True


def test_a_round_is_refused_and_not_recorded(store: Store) -> None:
    """The third step of a round is told with its edges and leaves the record as it was."""
    assert store.begin_ask(_ask("a", "b"), _everybody) == []
    assert store.begin_ask(_ask("b", "c"), _everybody) == []
    assert store.begin_ask(_ask("c", "a"), _everybody) == ["c", "a", "b", "c"]
    assert [one.asker for one in store.asks()] == ["a", "b"]
    store.end_ask("a-b")
    assert store.begin_ask(_ask("c", "a"), _everybody) == []


def test_a_dead_askers_question_is_in_nobodys_way(store: Store) -> None:
    """It stays on record, since it may still be answered; so does one that was left after its text was queued.

    Red when asks of killed processes count as waiting, or go before they are answered.
    """
    asked = _ask("a", "b", pid=7)
    store.begin_ask(asked, _everybody)
    assert store.begin_ask(_ask("b", "a"), lambda pid, _started: pid != 7) == []
    assert [one.asker for one in store.asks()] == ["a", "b"]
    store.queue_ask(asked, Delivery(0, "b", "text", 5.0))
    store.leave_ask(asked.id)
    store.leave_ask("b-a")
    assert [(one.id, one.delivery, one.pid) for one in store.asks()] == [("a-b", 1, 0)]
    store.end_ask(asked.id)
    assert store.asks() == []


def test_of_two_that_would_close_a_round_one_is_refused(tmp_path: Path) -> None:
    """Two processes that ask each other at the same moment never both get through.

    Red when the look and the record are two transactions.
    """

    def both(number: int) -> int:
        stores = [Store(tmp_path / f"s{number}") for _ in range(2)]
        asks = [_ask("a", "b"), _ask("b", "a")]
        with ThreadPoolExecutor(2) as pool:
            ways = list(pool.map(lambda pair: pair[0].begin_ask(pair[1], _everybody), zip(stores, asks, strict=True)))
        for one in stores:
            one.close()
        return sum(not way for way in ways)

    assert [both(number) for number in range(8)] == [1] * 8


def test_what_is_no_longer_kept_is_told_as_a_gap(store: Store) -> None:
    """Ten thousand events are kept; a reader further behind learns how many it has missed, and none is out of order.

    Red when reading begins silently at the oldest one.
    """
    with store._write() as db:
        change = (
            "INSERT INTO changes (member, state, kind, detail, decided_by, since) VALUES ('m', 'rest', '', '', '', 5)"
        )
        for _ in range(10_250):
            db.execute(change)
    first = store.first_event()
    assert (first, store.last_event()) == (201, 10_250)
    found = list(gaps_told(store.events(7, 3), 7))
    assert [(one.kind, one.seq, one.what) for one in found] == [
        ("gap", 200, "193"),
        ("state", 201, "rest"),
        ("state", 202, "rest"),
        ("state", 203, "rest"),
    ]
    assert not [one for one in gaps_told(store.events(10_000, 500), 10_000) if one.kind == "gap"]


def test_a_slow_reader_stalls_no_writer(store: Store, tmp_path: Path) -> None:
    """Between two pages nothing is held open: others write while a reader takes its time."""
    store.add_change(Change("m", State.REST, "", "", "screen", 5.0))
    assert len(store.events(0, 1)) == 1
    other = sqlite3.connect(tmp_path / "s" / "fan.sqlite3", timeout=0, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    other.execute("ROLLBACK")
    other.close()
    assert store.stirred(0) == ({"m"}, 1)
    assert store.stirred(1) == (set(), 1)


def test_a_second_connection_costs_the_first_nothing(tmp_path: Path) -> None:
    """A process that opens the store twice still sees what others write, after those have left.

    Red when opening it closes a plain descriptor of the file: that drops the locks of the first connection, and the
    next process to leave takes it for nobody's and deletes its log.
    """
    write = "INSERT INTO changes (member, state, kind, detail, decided_by, since) VALUES ('m', 'rest', '', '', '', 5)"
    code = (
        f"import sqlite3; sqlite3.connect({str(tmp_path / 'fan.sqlite3')!r}, isolation_level=None).execute({write!r})"
    )
    one, other = Store(tmp_path), Store(tmp_path)
    for number in range(1, 4):
        subprocess.run([sys.executable, "-c", code], check=True)
        assert (one.last_event(), other.last_event()) == (number, number)
    one.close()
    other.close()
