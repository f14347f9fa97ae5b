"""What has been, member by member: states in their order, and the words of its agent's hooks."""

from __future__ import annotations

from fan.core.model import Change, State
from fan.world.store.door import Door
from fan.world.store.rows import select


class History(Door):
    """The past of a member, over all its launches."""

    def changes(self, member_id: str) -> list[Change]:
        """Every state of a member on record, oldest first."""
        with self._read() as db:
            return select(db, Change, "changes", "member = ? ORDER BY seq", (member_id,))

    def reported(self, member_id: str, state: State) -> list[float]:
        """When its agent has said that it is in this state, as far as that is kept, oldest first."""
        with self._read() as db:
            sql = "SELECT at FROM reports WHERE member = ? AND state = ? AND dropped = '' ORDER BY seq"
            return [at for (at,) in db.execute(sql, (member_id, state))]

    def told(self, member_id: str, key: str) -> list[str]:
        """The different texts that its hooks' inputs held under `key`, in the order they first came up."""
        with self._read() as db:
            told = "SELECT seq, CASE WHEN json_valid(payload) THEN json_extract(payload, ?) END AS text FROM reports"
            of = "WHERE member = ? AND dropped = ''"
            sql = f"SELECT text FROM ({told} {of}) WHERE typeof(text) = 'text' GROUP BY text ORDER BY MIN(seq)"  # noqa: S608
            return [text for (text,) in db.execute(sql, (f'$."{key}"', member_id))]
