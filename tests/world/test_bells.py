"""Waiters and those who ring them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from fan.world.bells import EVENTS, FOLDER, Bells, ring, sweep


def test_only_who_waits_for_it_is_rung(tmp_path: Path) -> None:
    """A ring wakes the waiters of its topic and of everything, and no others; nothing is left behind."""
    with (
        Bells(tmp_path, ["mail-a", "member-b"]) as one,
        Bells(tmp_path, ["mail-c"]) as other,
        Bells(tmp_path, [EVENTS]) as everything,
    ):
        ring(tmp_path, ["member-b"])
        assert one.wait(0)
        assert not other.wait(0)
        assert everything.wait(0)
        assert not one.wait(0)
    assert not list((tmp_path / FOLDER).iterdir())


def test_two_of_one_process_wait_for_the_same(tmp_path: Path) -> None:
    """Both are rung, and the one that leaves first takes nothing from the other.

    Red when a waiter's fifo is named by topic and process alone.
    """
    with Bells(tmp_path, ["mail-a"]) as one:
        with Bells(tmp_path, ["mail-a"]) as other:
            ring(tmp_path, ["mail-a"])
            assert one.wait(0)
            assert other.wait(0)
        ringing = threading.Timer(0.05, lambda: ring(tmp_path, ["mail-a"]))
        ringing.start()
        assert one.wait(5)
        ringing.join()


def test_a_killed_waiters_fifo_goes(tmp_path: Path) -> None:
    """What nobody has open is taken away, unless it was made just now; ringing it meanwhile does no harm."""
    with Bells(tmp_path, ["mail-a"]):
        (name,) = os.listdir(tmp_path / FOLDER)  # noqa: PTH208
        left = tmp_path / FOLDER / "mail-a.0.999999999"
        os.mkfifo(left)
        ring(tmp_path, ["mail-a"])
        sweep(tmp_path, left.stat().st_mtime)
        assert left.exists()
        sweep(tmp_path, left.stat().st_mtime + 1)
        assert os.listdir(tmp_path / FOLDER) == [name]  # noqa: PTH208
