"""Locks at files: one holder at a time, in this process and in others, and none that a dead one keeps."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fan.errors import Busy, DiskFailed
from fan.world.locks import held, is_held
from tests.support.wait import eventually


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    """A second one is refused in the words it was given, at once where it has no patience; afterwards it is free."""
    lock = tmp_path / "lock"
    with held(lock), pytest.raises(Busy, match="taken"), held(lock, 0, Busy("taken")):
        pass
    with held(lock, 0):
        pass


def test_whether_it_is_held_can_be_seen(tmp_path: Path) -> None:
    """To look neither takes it from its holder nor keeps it."""
    lock = tmp_path / "lock"
    assert not is_held(lock)
    with held(lock):
        assert is_held(lock)
        assert is_held(lock)
    assert not is_held(lock)
    with held(lock, 0):
        pass


def test_who_is_patient_gets_it(tmp_path: Path) -> None:
    """Whoever waits in another thread goes on when the holder lets go. Red when threads are refused at once."""
    lock, order = tmp_path / "lock", []

    def wait() -> None:
        with held(lock, 30):
            order.append("second")

    waiter = threading.Thread(target=wait)
    with held(lock):
        waiter.start()
        order.append("first")
    eventually(lambda: order == ["first", "second"])
    waiter.join()


def test_a_lock_that_cannot_be_written_is_no_busy_one(tmp_path: Path) -> None:
    """A file where its folder should be is told as such, and not as somebody's work."""
    (tmp_path / "file").touch()
    with pytest.raises(DiskFailed, match="cannot be locked"), held(tmp_path / "file" / "lock", 0):
        pass
