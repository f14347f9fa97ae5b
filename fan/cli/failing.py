"""The one place where something that went wrong becomes words and an exit code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from fan.cli.spoken import Spoken
from fan.core.plain import visible
from fan.errors import FanError, Interrupted
from fan.render import output

BUG = 4


class Bug(FanError):
    """A fault of ours: the log file that the message names tells what happened."""

    code = "bug"
    exit_code = BUG


def guarded(run: Callable[[], int], spoken: Spoken) -> int:
    """The exit code of `run`, whatever it raises; what went wrong is told on the way."""
    try:
        return run()
    except FanError as error:
        return _tell(error, spoken)
    except KeyboardInterrupt:
        return _tell(Interrupted("interrupted"), spoken)
    except BrokenPipeError:
        output.silence()  # whoever read our help has left
        return FanError.exit_code
    except Exception as error:  # noqa: BLE001 - a bug of ours is told, logged and has its own exit code
        return _tell(_bug(error), spoken)


def lines(error: FanError, spoken: Spoken) -> str:
    """An error as a person reads it: what was refused, what was not done, the next command."""
    told = [f"fan: {error.message}"]
    if error.not_done:
        told.append(f"not done: {error.not_done}")
    if error.hint:
        told.append(f"next: {spoken.said(error.hint)}")
    return "\n".join(visible(line) for line in told)


def _tell(error: FanError, spoken: Spoken) -> int:
    if spoken.as_json:
        from fan.render.values import as_json

        output.result(as_json({"error": error.as_dict() | {"hint": spoken.said(error.hint)}}))
    else:
        output.aside(lines(error, spoken))
    return error.exit_code


def _bug(error: Exception) -> Bug:
    import traceback

    text = "".join(traceback.format_exception(error))
    what = f"this is a bug in fan ({type(error).__name__})"
    try:
        log = _log(text)
    except (OSError, FanError) as unwritten:
        return Bug(f"{what}, and its log cannot be written: {unwritten}\n{text}", hint="report it with these lines")
    return Bug(f"{what}; what happened is in {log}", hint="report it, with that file attached")


def _log(text: str) -> Path:
    from fan.world import paths
    from fan.world.files import private_folder

    places = paths.find(os.environ)
    private_folder(places.state)
    folder = private_folder(places.logs)
    file = folder / f"bug-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.log"
    file.write_text(text, encoding="utf-8", errors="backslashreplace")
    return file
