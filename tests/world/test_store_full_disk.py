"""The store on a disk that is full."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core.model import Delivery, Group, Member, Step
from fan.errors import StoreFailed
from fan.world.store.connection import connect
from fan.world.store.records import Store
from fan.world.store.reports import report
from tests.support.disk import fill, small_disk

GROUP = Group("g", "fan/x", Path("/r"), "main", "a", "p", 0.0, 1, 0.0)
MEMBER = Member("m", "g", 1, "fan/x", Path("/w"), "s", "demo", "", "a", Step.PLANNED, launch="l")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """One megabyte of disk."""
    with small_disk(tmp_path / "disk", "1m") as place:
        yield place


def test_a_full_disk_is_told_and_nothing_is_half_written(disk: Path) -> None:
    """Each write either is on record or raises StoreFailed; once there is room the same store goes on.

    Red when a transaction that the full disk has ended already is rolled back again: its own words would be lost.
    """
    store = Store(disk / "state")
    store.add_group(GROUP, [MEMBER], [])
    ballast = fill(disk)
    written = 0
    with pytest.raises(StoreFailed) as refused:
        for _ in range(400):
            store.add_delivery(Delivery(0, "m", "x" * 3000, 0.0))
            written += 1
    assert "not on record" in refused.value.not_done
    for size in (100, 8_000_000):
        with pytest.raises(StoreFailed, match="disk is full"):
            store.add_delivery(Delivery(0, "m", "x" * size, 0.0))
    with pytest.raises(StoreFailed):
        others = [replace(MEMBER, id=f"m{n}", n=n, path=Path(f"/w{n}"), session=f"s{n}") for n in range(2, 60)]
        store.add_group(replace(GROUP, id="g2", stem="fan/y", prompt="x" * 100_000), others, [])
    assert [one.id for one in store.groups()] == ["g"]
    assert len(store.deliveries("m")) == written
    ballast.unlink()
    assert store.add_delivery(Delivery(0, "m", "now", 0.0)).id == written + 1
    store.close()
    again = Store(disk / "state")
    assert len(again.deliveries("m")) == written + 1
    again.close()


def test_a_store_cannot_begin_on_a_full_disk(disk: Path) -> None:
    """StoreFailed; with room it begins as if nothing had been."""
    ballast = fill(disk)
    with pytest.raises(StoreFailed):
        Store(disk / "state")
    ballast.unlink()
    store = Store(disk / "state")
    store.add_group(GROUP, [MEMBER], [])
    store.close()


def test_a_hook_on_a_full_disk_leaves_the_record_as_it_was(disk: Path) -> None:
    """A report that cannot be stored is refused as a whole; `fan report` logs it and the agent notices nothing."""
    store = Store(disk / "state")
    store.add_group(GROUP, [MEMBER], [])
    ballast = fill(disk)
    environ = {"FAN_STATE_DIR": str(store.folder), "FAN_MEMBER": "m", "FAN_LAUNCH": "l"}
    with pytest.raises(sqlite3.OperationalError):
        report(environ, "working", "", "x" * 200_000)
    assert store.reports_since(MEMBER, 0) == []
    ballast.unlink()
    report(environ, "working", "", "")
    assert len(store.reports_since(MEMBER, 0)) == 1
    store.close()
    connect(str(store.folder)).close()
