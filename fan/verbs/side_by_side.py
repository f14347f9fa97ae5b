"""Several jobs in threads, with a Ctrl-C that loses none of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

NOTICE = 0.1
"""A Ctrl-C that reaches another thread is noticed only when the main one wakes up; in seconds."""


def side_by_side(
    do: Callable[[Item], Outcome],
    items: Sequence[Item],
    width: int,
    stopped: threading.Event,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """What `do` gives for each item, `width` at a time; `meanwhile` is called every now and then.

    On Ctrl-C `stopped` is set, by which `do` is to know that nothing more should begin. Each item has its turn all
    the same, then the interrupt is raised.
    """
    turns = iter(range(len(items)))  # one for all threads, so that each item is taken once
    outcomes: dict[int, Outcome] = {}

    def work() -> None:
        for turn in turns:
            outcomes[turn] = do(items[turn])

    pool = ThreadPoolExecutor(width)
    try:
        workers = [pool.submit(work) for _ in range(min(width, len(items)))]
        while wait(workers, timeout=NOTICE).not_done:
            meanwhile()
    except BaseException:
        stopped.set()
        work()  # where the interrupt came before a thread was there
        raise
    finally:
        pool.shutdown()
    for worker in workers:
        worker.result()
    return [outcomes[turn] for turn in range(len(items))]
