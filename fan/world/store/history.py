"""What has been, member by member: states in their order, and the words of its agent's hooks."""

from __future__ import annotations

from fan.core.model import Change, Kind, State
from fan.world.store.door import Door
from fan.world.store.rows import select


class History(Door):
    """The past of a member, over all its launches."""

    def changes(self, member_id: str) -> list[Change]:
        """Every state of a member on record, oldest first."""
        with self._read() as db:
            return select(db, Change, "changes", "member = ? ORDER BY seq", (member_id,))

    def rested(self, member_id: str, since: float) -> bool:
        """Whether its agent has come to rest, or to a question of its own, since then."""
        with self._read() as db:
            seen = "SELECT 1 FROM changes WHERE member = ? AND since >= ? AND (state = ? OR kind = ?)"
            said = "SELECT 1 FROM reports WHERE member = ? AND at >= ? AND state = ? AND dropped = ''"
            asked = (member_id, since, State.REST, Kind.QUESTION, member_id, since, State.REST)
            return bool(db.execute(f"SELECT EXISTS ({seen}) OR EXISTS ({said})", asked).fetchone()[0])

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
