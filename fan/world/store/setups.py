"""Which setups a person has approved, and which ports members hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fan.core.setup import free_range
from fan.world.store.door import Door


class Setups(Door):
    """Approvals by repository and fingerprint; leases of ports by member."""

    def approve(self, repo: Path, fingerprint: str, at: float) -> None:
        """Record that a person has agreed to exactly this setup in this repository."""
        with self._write() as db:
            db.execute(
                "INSERT OR IGNORE INTO approvals (repo, hash, at) VALUES (?, ?, ?)", (str(repo), fingerprint, at)
            )

    def approved(self, repo: Path, fingerprint: str) -> bool:
        """Whether a person has agreed to exactly this setup in this repository."""
        with self._read() as db:
            found = db.execute("SELECT 1 FROM approvals WHERE repo = ? AND hash = ?", (str(repo), fingerprint))
            return found.fetchone() is not None

    def lease(self, member_id: str, count: int, first: int, is_free: Callable[[int], bool]) -> int | None:
        """The first of `count` ports that are the member's until it goes; None where `first` and above have no room.

        A member that holds some already keeps them. No two members are ever given the same port.
        """
        with self._write() as db:
            db.execute("DELETE FROM leases WHERE member NOT IN (SELECT id FROM members WHERE removed_at IS NULL)")
            rows = db.execute("SELECT first, count, member FROM leases").fetchall()
            held = next((begin for begin, length, member in rows if member == member_id and length >= count), None)
            if held is not None:
                return int(held)
            found = free_range(((begin, length) for begin, length, _ in rows), count, first, is_free)
            if found is not None:
                db.execute("INSERT INTO leases (first, count, member) VALUES (?, ?, ?)", (found, count, member_id))
            return found

    def leased(self, member_id: str) -> tuple[int, int] | None:
        """The first port and the number of ports that a member holds."""
        with self._read() as db:
            found = db.execute("SELECT first, count FROM leases WHERE member = ?", (member_id,)).fetchone()
            return None if found is None else (int(found[0]), int(found[1]))

    def release(self, member_id: str) -> None:
        """Give a member's ports back."""
        with self._write() as db:
            db.execute("DELETE FROM leases WHERE member = ?", (member_id,))
