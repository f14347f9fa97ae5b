"""Jobs in threads: each done once, in order, and none forgotten when Ctrl-C comes."""

from __future__ import annotations

import threading

import pytest

from fan.verbs.side_by_side import side_by_side


def test_each_item_is_done_once_and_the_outcomes_keep_their_order() -> None:
    """More items than threads, fewer, and none."""
    for count in (0, 1, 3, 100):
        assert side_by_side(str, range(count), 4, threading.Event()) == [str(n) for n in range(count)]


def test_no_more_than_so_many_at_a_time() -> None:
    """Two of five run side by side, never three: with three the barrier of two would be passed by one alone."""
    now, most, lock = 0, 0, threading.Lock()

    def count(_item: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        barrier.wait(10)
        with lock:
            now -= 1

    barrier = threading.Barrier(2)
    side_by_side(count, range(4), 2, threading.Event())
    assert most == 2


@pytest.mark.parametrize("started", range(3))
def test_an_interrupt_while_threads_are_started_leaves_nothing_running(
    started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many threads are there when Ctrl-C comes, all learn of it and every item has its turn.

    Red when the threads are started outside of what notices the interrupt: it then waits for them for ever.
    """
    start, stopped = threading.Thread.start, threading.Event()
    threads: list[threading.Thread] = []

    def interrupted(thread: threading.Thread) -> None:
        if len(threads) == started:
            raise KeyboardInterrupt
        threads.append(thread)
        start(thread)

    def do(item: int) -> None:
        assert stopped.wait(10)
        done.append(item)

    done: list[int] = []
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        side_by_side(do, range(5), 4, stopped)
    assert sorted(done) == list(range(5))
    assert not [thread for thread in threads if thread.is_alive()]


def test_an_interrupt_meanwhile_is_raised_when_all_had_their_turn() -> None:
    """Red when the interrupt is raised while a job is still on its way."""
    stopped = threading.Event()
    done: list[int] = []

    def do(item: int) -> None:
        assert stopped.wait(10)
        done.append(item)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        side_by_side(do, range(5), 2, stopped, interrupt)
    assert sorted(done) == list(range(5))


def test_a_bug_in_a_job_is_raised() -> None:
    """Red when what a thread raised is dropped."""
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // item, range(3), 1, threading.Event())
