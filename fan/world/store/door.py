"""The open state file, shared by threads; each subject's methods are a class above this one."""

from __future__ import annotations

import shlex
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fan.errors import StoreFailed, UsageError
from fan.world.store.connection import connect, transaction
from fan.world.store.turn import Turn


class Door:
    """One connection to the state file in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._db = connect(str(folder))
        self._lock = threading.RLock()
        self._turn = Turn(folder)
        self._durable = True

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            self._db.close()
            self._turn.close()

    def version(self) -> tuple[int, int]:
        """Numbers of which one changes whenever others, or we, have written anything."""
        with self._read() as db:
            return int(db.execute("PRAGMA data_version").fetchone()[0]), db.total_changes

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _translated(self.folder):
            yield self._db

    @contextmanager
    def _write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """What is written outlives a power cut when `durable`, else only every crash of ours."""
        with self._lock, self._turn.taken(), _translated(self.folder):
            if durable is not self._durable:
                self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            with transaction(self._db) as db:
                yield db


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except UnicodeEncodeError as error:
        raise UsageError(
            "a name, path or text holds bytes that are not UTF-8", not_done="the last step is not on record"
        ) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise StoreFailed(
                f"another fan has been writing to the state file in {folder} for long;"
                " one that was stopped by Ctrl-Z has to go on first",
                not_done="the last step is not on record",
                hint="fg",
            ) from error
        raise StoreFailed(
            f"the state file in {folder} cannot be used: {error}",
            not_done="the last step is not on record",
            hint=f"df -h {shlex.quote(str(folder))}",
        ) from error
