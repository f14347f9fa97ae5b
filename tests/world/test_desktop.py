"""Notices on the desktop, with a stand-in for the library and without one."""

from __future__ import annotations

import logging
import sys
import threading
from types import ModuleType
from typing import Any

import pytest

from fan.world.desktop import LIBRARY, Desktop
from tests.support.wait import eventually


class Notifier:
    """Takes notices as the library does; `open` holds them back."""

    def __init__(self, app_name: str) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.name = app_name
        self.open = threading.Event()
        self.open.set()

    def send(self, title: str, message: str) -> None:
        """As the library's; it logs and goes on where there is no desktop."""
        self.open.wait(10)
        self.sent.append((self.name, title, message))
        log = logging.getLogger(f"{LIBRARY}.backends.base")
        log.warning("Notification failed", exc_info=OSError("no bus"))


@pytest.fixture
def notifiers(monkeypatch: pytest.MonkeyPatch) -> list[Notifier]:
    """The library, and the notifiers that were made of it."""
    made: list[Notifier] = []
    library: Any = ModuleType(f"{LIBRARY}.sync")

    def new(app_name: str) -> Notifier:
        made.append(Notifier(app_name))
        return made[-1]

    library.DesktopNotifierSync = new
    monkeypatch.setitem(sys.modules, LIBRARY, ModuleType(LIBRARY))
    monkeypatch.setitem(sys.modules, f"{LIBRARY}.sync", library)
    return made


def test_a_notice_is_shown_beside_the_work(notifiers: list[Notifier], caplog: pytest.LogCaptureFixture) -> None:
    """It goes through one notifier, the caller does not wait, and a failure is one line in the log.

    Red when a desktop that hangs holds the courier.
    """
    desktop = Desktop()
    desktop.show("fan", "one")
    eventually(lambda: notifiers and notifiers[0].sent == [("fan", "fan", "one")])
    notifiers[0].open.clear()
    eventually(lambda: caplog.records)
    assert [record.getMessage() for record in caplog.records] == ["Notification failed: no bus"]
    assert caplog.records[0].exc_info is None
    eventually(lambda: not [one for one in threading.enumerate() if one.daemon and "_show" in one.name])
    desktop.show("fan", "two")
    desktop.show("fan", "three")
    assert caplog.records[-1].getMessage() == "a desktop notice hangs; this one is not shown"
    notifiers[0].open.set()
    eventually(lambda: len(notifiers[0].sent) == 2)
    assert len(notifiers) == 1


def test_without_the_library_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """However many notices there are."""
    monkeypatch.setitem(sys.modules, f"{LIBRARY}.sync", None)
    desktop = Desktop()
    for _ in range(3):
        desktop.show("fan", "text")
        eventually(lambda: caplog.records)
    assert len([record for record in caplog.records if "worktree-fan[notify]" in record.getMessage()]) == 1
