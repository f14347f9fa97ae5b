"""What checks were run on which state of a member's worktree, and how they ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fan.core.compare import Verification
from fan.world.store.door import Door
from fan.world.store.rows import insert, select, update


class Verifications(Door):
    """Verifications by member."""

    def add_verification(self, one: Verification) -> Verification:
        """Record that a check begins; the verification with its number."""
        with self._write() as db:
            return replace(one, id=insert(db, "verifications", one, without="id"))

    def end_verification(self, one: Verification, **ended: Any) -> None:
        """Record how a check ended."""
        with self._write() as db:
            update(db, "verifications", "id", replace(one, **ended))

    def last_verifications(self) -> dict[str, Verification]:
        """The newest check of each member that has ended, by member."""
        where = "id IN (SELECT MAX(id) FROM verifications WHERE ended_at IS NOT NULL GROUP BY member)"
        with self._read() as db:
            return {one.member: one for one in select(db, Verification, "verifications", where)}

    def outputs(self, member_id: str) -> list[Path]:
        """Where the output of a member's checks was kept, oldest first."""
        with self._read() as db:
            found = select(db, Verification, "verifications", "member = ? ORDER BY id", (member_id,))
            return [one.output for one in found]
