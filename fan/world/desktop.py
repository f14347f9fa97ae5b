"""Notices on the person's desktop, through a library that is there only with `worktree-fan[notify]`."""

from __future__ import annotations

import importlib
import logging
import threading
from typing import Any

LIBRARY = "desktop_notifier"
log = logging.getLogger(__name__)


class Desktop:
    """Where there is no desktop, or no library for it, a line in the log is all that comes of a notice."""

    def __init__(self) -> None:
        self._notifier: Any = None
        self._missing = False
        self._thread: threading.Thread | None = None

    def show(self, title: str, text: str) -> None:
        """Show a notice, beside whatever else is done; dropped while an earlier one hangs."""
        if self._missing:
            return
        if self._thread and self._thread.is_alive():
            log.warning("a desktop notice hangs; this one is not shown")
            return
        # Not one that is waited for at the end: a desktop that does not answer would keep us.
        self._thread = threading.Thread(target=self._show, args=(title, text), daemon=True)
        self._thread.start()

    def _show(self, title: str, text: str) -> None:
        try:
            self._notifier = self._notifier or _notifier()
        except ImportError as error:
            self._missing = True
            log.warning("no desktop notices: %s; pip install 'worktree-fan[notify]'", error)
            return
        self._notifier.send(title, text)


def _notifier() -> Any:
    library = importlib.import_module(f"{LIBRARY}.sync")
    logging.getLogger(f"{LIBRARY}.backends.base").addFilter(_on_one_line)
    return library.DesktopNotifierSync(app_name="fan")


def _on_one_line(record: logging.LogRecord) -> bool:
    """The library logs what failed, with a long trace: a session without a desktop is not worth one."""
    if record.exc_info:
        record.msg, record.exc_info = f"{record.msg}: {record.exc_info[1]}", None
    return True
