"""The store's door: intent and history. What tmux and git know is asked of them, not kept here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fan.core.model import Change, Delivery, Group, Member, Report
from fan.errors import AlreadyExists
from fan.world.store.asks import Asks
from fan.world.store.events import Events
from fan.world.store.history import History
from fan.world.store.joining import Joining
from fan.world.store.mailbox import Mailbox
from fan.world.store.removals import Removals, end_if_empty
from fan.world.store.rows import insert, select, update
from fan.world.store.setups import Setups
from fan.world.store.stash import StashRows
from fan.world.store.verifications import Verifications
from fan.world.store.waiting import Waiting

LIVING = "removed_at IS NULL"


class Running(Struct, frozen=True):
    """The courier that last took the lock: process id, its start time and fan's version."""

    pid: int
    started: float
    version: str


class Store(Joining, Setups, Verifications, Removals, History, Mailbox, StashRows, Asks, Events, Waiting):
    """Groups, members, deliveries, reports, state changes, removals, mail. Safe to share between threads."""

    # Groups and members

    def add_group(self, group: Group, members: Sequence[Member], deliveries: Sequence[Delivery]) -> None:
        """Put a whole group on record at once.

        Raises AlreadyExists when the stem, a folder or a session was taken meanwhile; nothing is then recorded.
        """
        try:
            with self._write() as db:
                insert(db, "groups", group)
                for member in members:
                    insert(db, "members", member)
                for delivery in deliveries:
                    insert(db, "deliveries", delivery, without="id")
        except sqlite3.IntegrityError as error:
            raise AlreadyExists(
                f"group {group.stem} was started by somebody else at the same moment",
                not_done="nothing was made",
                hint="fan ls",
            ) from error

    def groups(self, *, living: bool = True) -> list[Group]:
        """All groups, oldest first."""
        with self._read() as db:
            return select(db, Group, "groups", ("ended_at IS NULL" if living else "1") + " ORDER BY created_at")

    def group(self, group_id: str) -> Group:
        """One group by its id."""
        with self._read() as db:
            return select(db, Group, "groups", "id = ?", (group_id,))[0]

    def members(self, group_id: str | None = None, *, living: bool = True) -> list[Member]:
        """Members by group and number."""
        where = (LIVING if living else "1") + ' AND ? IN ("group", \'\') ORDER BY "group", n'
        with self._read() as db:
            return select(db, Member, "members", where, (group_id or "",))

    def member(self, member_id: str) -> Member:
        """One member by its whole id, removed ones too."""
        with self._read() as db:
            return select(db, Member, "members", "id = ?", (member_id,))[0]

    def update_member(self, member_id: str, **changes: Any) -> Member:
        """Change some fields of a member; the member as it is now. With its last member a group ends."""
        with self._write() as db:
            member = replace(select(db, Member, "members", "id = ?", (member_id,))[0], **changes)
            update(db, "members", "id", member)
            end_if_empty(db, member)
            return member

    # Deliveries

    def add_delivery(self, delivery: Delivery) -> Delivery:
        """Queue a prompt; the delivery with its number."""
        with self._write() as db:
            return replace(delivery, id=insert(db, "deliveries", delivery, without="id"))

    def save_delivery(self, delivery: Delivery, *, was: Delivery, durable: bool = True) -> bool:
        """Record where a delivery stands, before what follows from it is done; `durable`: for after a power cut too.

        False, and nothing is written, when it is no longer as it `was`: two never act on one delivery.
        """
        with self._write(durable=durable) as db:
            if select(db, Delivery, "deliveries", "id = ?", (delivery.id,)) != [was]:
                return False
            update(db, "deliveries", "id", delivery)
            return True

    def open_deliveries(self) -> list[Delivery]:
        """Those that the courier still has to do with, in the order they were queued."""
        with self._read() as db:
            return select(db, Delivery, "deliveries", "phase != 'done' ORDER BY id")

    def last_deliveries(self) -> dict[str, Delivery]:
        """The newest prompt of each member, by member. A line that tells of mail is none, nor is a question that was
        taken back before it was typed: nobody waits for it."""
        with self._read() as db:
            never = "purpose = 'ask' AND status = 'not_sent' AND typed = 'no'"
            newest = f"SELECT MAX(id) FROM deliveries WHERE purpose != 'wake' AND NOT ({never}) GROUP BY member"  # noqa: S608 - ours
            return {one.member: one for one in select(db, Delivery, "deliveries", f"id IN ({newest})")}

    def last_wakes(self) -> dict[str, Delivery]:
        """The newest line that told of mail, by member."""
        with self._read() as db:
            where = "id IN (SELECT MAX(id) FROM deliveries WHERE purpose = 'wake' GROUP BY member)"
            return {one.member: one for one in select(db, Delivery, "deliveries", where)}

    def deliveries(self, member_id: str) -> list[Delivery]:
        """All deliveries of a member, oldest first."""
        with self._read() as db:
            return select(db, Delivery, "deliveries", "member = ? ORDER BY id", (member_id,))

    # Reports and states

    def last_reports(self, members: Iterable[Member]) -> dict[str, Report]:
        """The newest report of each member's present launch, by member."""
        with self._read() as db:
            where = (
                "dropped = '' AND seq IN (SELECT MAX(seq) FROM reports WHERE dropped = '' GROUP BY member, launch)"
            )
            launches = {member.launch: member.id for member in members if member.launch}
            found = select(db, Report, "reports", where)
            return {one.member: one for one in found if launches.get(one.launch) == one.member}

    def reports_since(self, member: Member, seq: int) -> list[Report]:
        """What the member's present launch has reported after `seq`, oldest first."""
        with self._read() as db:
            where = "member = ? AND launch = ? AND seq > ? AND dropped = '' ORDER BY seq"
            return select(db, Report, "reports", where, (member.id, member.launch, seq))

    def add_change(self, change: Change) -> None:
        """Record that a member's state has changed."""
        with self._write(durable=False) as db:
            insert(db, "changes", change)

    def last_changes(self) -> dict[str, Change]:
        """Each member's state as last recorded, by member."""
        with self._read() as db:
            where = "seq IN (SELECT MAX(seq) FROM changes GROUP BY member)"
            return {one.member: one for one in select(db, Change, "changes", where)}

    # The courier

    def running(self) -> Running | None:
        """The courier on record, which may be dead."""
        with self._read() as db:
            found = select(db, Running, "courier")
            return found[0] if found else None

    def set_running(self, running: Running) -> None:
        """Record the courier that holds the lock."""
        with self._write() as db:
            values = (running.pid, running.started, running.version)
            db.execute("REPLACE INTO courier (one, pid, started, version) VALUES (1, ?, ?, ?)", values)
