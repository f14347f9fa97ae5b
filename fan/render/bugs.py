"""A fault of ours as the person sees it: a log file, and its name."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

from fan.errors import FanError

BUG = 4


class Bug(FanError):
    """A fault of ours: the log file that the message names tells what happened."""

    code = "bug"
    exit_code = BUG


def logged(error: Exception) -> Bug:
    """Write down what happened; where that cannot be, it is in the message."""
    import traceback

    text = "".join(traceback.format_exception(error))
    what = f"this is a bug in fan ({type(error).__name__})"
    try:
        log = _log(text)
    except (OSError, FanError) as unwritten:
        return Bug(f"{what}: please report it with these lines; no log can be written: {unwritten}\n{text}")
    return Bug(f"{what}: please report it, with what is in {log}", hint=f"cat {shlex.quote(str(log))}")


def _log(text: str) -> Path:
    from fan.world import paths
    from fan.world.files import private_folder

    places = paths.find(os.environ)
    private_folder(places.state)
    folder = private_folder(places.logs)
    file = folder / f"bug-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.log"
    file.write_text(text, encoding="utf-8", errors="backslashreplace")
    return file
