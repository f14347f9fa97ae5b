"""The one place where something that went wrong becomes words and an exit code."""

from __future__ import annotations

from collections.abc import Callable

from fan.cli.spoken import Spoken
from fan.core.plain import visible
from fan.errors import DiskFailed, FanError, Interrupted
from fan.render import bugs, output


def guarded(run: Callable[[], int], spoken: Spoken) -> int:
    """The exit code of `run`, whatever it raises; what went wrong is told on the way."""
    try:
        code = run()
        output.finish()
    except FanError as error:
        return _tell(error, spoken)
    except KeyboardInterrupt:
        return _tell(Interrupted("interrupted"), spoken)
    except BrokenPipeError as error:
        # The parser prints help by itself; that its reader has left is no failure.
        return 0 if output.is_left() else _tell(bugs.logged(error), spoken)
    except OSError as error:
        return _tell(output.refused(error) or bugs.logged(error), spoken)
    except Exception as error:  # noqa: BLE001 - a bug of ours is told, logged and has its own exit code
        return _tell(bugs.logged(error), spoken)
    return code


def lines(error: FanError, spoken: Spoken) -> str:
    """An error as a person reads it: what was refused, what was not done, the next command."""
    told = [f"fan: {error.message}"]
    if error.not_done:
        told.append(f"not done: {error.not_done}")
    if error.hint:
        told.append(f"next: {spoken.said(error.hint)}")
    return "\n".join(visible(line) for line in told)


def _tell(error: FanError, spoken: Spoken) -> int:
    if not (spoken.as_json and _is_answered(error, spoken)):
        output.aside(lines(error, spoken))
    return error.exit_code


def _is_answered(error: FanError, spoken: Spoken) -> bool:
    """Whether standard output has taken the error, as scripts get it."""
    from fan.render.values import as_json

    try:
        output.result(as_json({"error": error.as_dict() | {"hint": spoken.said(error.hint)}}))
    except DiskFailed:
        return False
    return True
