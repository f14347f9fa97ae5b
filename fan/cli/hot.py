"""`fan report`: quick, silent, never in an agent's way. Standard library only, and little of it."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence

USAGE = "fan report STATE [--kind KIND], the hook's payload on standard input"
CHUNK = 65_536
PATIENCE = 2.0


def report(words: Sequence[str]) -> None:
    """Store what an agent's hook says. Prints nothing and raises nothing: a failure goes to logs/report.log."""
    try:
        _store(words)
    except Exception as error:  # noqa: BLE001 - an agent must not fail because of us; the log tells
        _log(f"{type(error).__name__}: {error}", words)


def has_no_mail(*, unread: bool) -> bool:
    """Whether there is nothing to read for the member whose launch this process names; False where that is not plain.

    Whoever only names it learns no more than by looking into that inbox, which anybody may.
    """
    folder, launch = os.environ.get("FAN_STATE_DIR", ""), os.environ.get("FAN_LAUNCH", "")
    if not (folder and launch and os.access(folder, os.W_OK)):
        return False
    from fan.errors import FanError
    from fan.world.store.reports import is_empty

    try:
        return is_empty(folder, launch, unread=unread)
    except (FanError, OSError):
        return False  # the whole verb says what is wrong


def payload(stdin: int, *, largest: int, patience: float = PATIENCE) -> str:
    """What the hook was given, read up to its end and cut to `largest` bytes.

    Waits at most `patience` seconds, as an agent may leave its end open. Empty on a terminal or a closed input.
    """
    try:
        if os.isatty(stdin):
            return ""
        os.fstat(stdin)
    except OSError:
        return ""  # there is no standard input
    kept = bytearray()
    until = time.monotonic() + patience
    while select.select([stdin], [], [], max(0.0, until - time.monotonic()))[0]:
        chunk = os.read(stdin, CHUNK)
        if not chunk:
            break
        kept += chunk[: largest - len(kept)]
    return kept.decode("utf-8", "replace")


def _store(words: Sequence[str]) -> None:
    state, kind = _parsed(words)
    if not os.environ.get("FAN_MEMBER"):
        return
    from fan.errors import StoreFailed
    from fan.world.store import reports

    given = payload(0, largest=reports.LARGEST_PAYLOAD)
    try:
        reports.report(os.environ, state, kind, given)
    except StoreFailed:
        if not os.environ.get("FAN_REQUESTS"):
            raise
        from fan.cli.requests import left

        left(["report", *words], given)


def _parsed(words: Sequence[str]) -> tuple[str, str]:
    match list(words):
        case [state] | [state, "--kind"]:
            return state, ""
        case [state, "--kind", kind] | ["--kind", kind, state]:
            return state, kind
        case [state, word] if word.startswith("--kind="):
            return state, word.removeprefix("--kind=")
    raise ValueError(f"usage: {USAGE}")


def _log(what: str, words: Sequence[str]) -> None:
    folder = os.environ.get("FAN_STATE_DIR", "")
    if not folder:
        return
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{when} {' '.join(words)!r} {os.environ.get('FAN_MEMBER', '-')} {what!r}\n"
    try:
        if not os.path.isdir(f"{folder}/logs"):  # noqa: PTH112 - pathlib costs too much here
            os.mkdir(f"{folder}/logs", 0o700)  # noqa: PTH102
        log = os.open(f"{folder}/logs/report.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return  # the state folder cannot be written: there is nowhere left to say so
    try:
        os.write(log, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(log)
