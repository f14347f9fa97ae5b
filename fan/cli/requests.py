"""In a sandbox: the command line is left for the courier, and its answer is printed as if it had been ours."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from fan.cli.answering import current_folder
from fan.cli.routing import routed
from fan.cli.text import STDIN, read_text
from fan.core.requests import FORWARDED, Answer, Request, is_withheld, refusal
from fan.errors import TimedOut
from fan.render import output
from fan.world import requests
from fan.world.clock import Clock
from fan.world.store.reports import ring

TAKEN_WITHIN = 10.0
LONGEST = 3730.0
QUICK, SLOW = 0.025, 0.25
HELP = frozenset({"-h", "--help"})


def instead(words: Sequence[str]) -> Callable[[], int] | None:
    """What is done in the place of a command line that needs the store; None for one that does not."""
    options = words[: words.index("--")] if "--" in words else words
    meant = routed(words)
    if not meant or HELP.intersection(options):
        return None
    if FORWARDED.intersection(meant[:1]):
        return partial(forwarded, words)
    return partial(_refuse, meant) if is_withheld(meant) else None


def _refuse(words: Sequence[str]) -> NoReturn:
    raise refusal(words)


def forwarded(words: Sequence[str]) -> int:
    """Leave the request, wait for its answer and print it; its exit code. Raises TimedOut."""
    folder = _folder()
    options = words[: words.index("--")] if "--" in words else words
    request_id = left(words, read_text(STDIN) if STDIN in options else "")
    try:
        answer = _await(folder, request_id, Clock())
    finally:
        requests.withdraw(folder, request_id)
    output.raw_aside(answer.stderr)
    output.raw(answer.stdout)
    return answer.code


def left(words: Sequence[str], stdin: str) -> str:
    """Leave the request; its id. Raises UsageError, TooLarge, DiskFailed."""
    request_id = secrets.token_hex(8)
    requests.leave(_folder(), request_id, Request(tuple(words), str(current_folder()), stdin))
    _ring()
    return request_id


def _folder() -> Path:
    return Path(os.environ["FAN_REQUESTS"])


def _await(folder: Path, request_id: str, clock: Clock) -> Answer:
    begun = rung = clock.now()
    while True:
        # In this order: the answer is written before the request goes.
        there = requests.is_there(folder, request_id)
        answer = requests.answered(folder, request_id)
        if answer:
            return answer
        passed = clock.now() - begun
        if not there:
            raise TimedOut("the courier broke off: the request is gone without an answer", hint="fan mail ls")
        if passed > TAKEN_WITHIN and requests.withdraw(folder, request_id):
            raise TimedOut(
                f"the courier did not take the request within {TAKEN_WITHIN:.0f} s: it is busy, or not running, and"
                " any fan command outside of the sandbox starts it",
                not_done="nothing was done",
            )
        if passed > LONGEST:
            raise TimedOut(f"the courier did not answer within {LONGEST:.0f} s", hint="fan mail ls")
        if clock.now() - rung > 1.0:
            rung = clock.now()
            _ring()
        clock.pause(QUICK if passed < TAKEN_WITHIN else SLOW)


def _ring() -> None:
    """Some sandboxes let us write to a fifo outside; where not, the courier looks once a second."""
    ring(os.path.join(os.environ.get("FAN_RUNTIME_DIR", ""), "bell"))  # noqa: PTH118
