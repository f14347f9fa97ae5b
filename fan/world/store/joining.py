"""Members that join later than their group was made, and those whose agent is started again."""

from __future__ import annotations

import sqlite3

from msgspec.structs import replace

from fan.core.model import Group, Member
from fan.errors import AlreadyExists, Busy, NotFound
from fan.world.store.door import Door
from fan.world.store.rows import insert, select, update


class Joining(Door):
    """One member at a time."""

    def add_member(self, member: Member) -> Member:
        """Put one more member of a living group on record; the member with its number in the group.

        Raises AlreadyExists when its folder or session belongs to another member, NotFound when the group has ended.
        """
        try:
            with self._write() as db:
                if not select(db, Group, "groups", "id = ? AND ended_at IS NULL", (member.group,)):
                    raise NotFound("the group has just ended", not_done="nothing was made", hint="fan ls")
                last = db.execute('SELECT MAX(n) FROM members WHERE "group" = ?', (member.group,)).fetchone()[0]
                numbered = replace(member, n=(last or 0) + 1)
                insert(db, "members", numbered)
                return numbered
        except sqlite3.IntegrityError as error:
            raise AlreadyExists(
                f"{member.path} or the session {member.session} belongs to a member already",
                not_done="nothing was made",
                hint="fan ls",
            ) from error

    def relaunch(self, was: Member, now: Member) -> Member:
        """Record that a member's agent is about to be started again, before it is.

        Raises Busy, and writes nothing, when it has been launched, removed or changed by somebody else since `was`.
        """
        with self._write() as db:
            if select(db, Member, "members", "id = ?", (was.id,)) != [was]:
                raise Busy(
                    "somebody else has changed it at this moment", not_done="it was not started again", hint="fan ls"
                )
            update(db, "members", "id", now)
            return now
