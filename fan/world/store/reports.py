"""What agents' hooks tell us. Standard library only, and quick: it runs at every step of every agent."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from fan.world.store.connection import NAME, connect, transaction

STATES = frozenset({"starting", "needs_input", "working", "rest", "limited", "errored", "exited"})
LARGEST_PAYLOAD = 262_144
KEPT = 200
DEEPEST = 32
# What counts and what was dropped are bounded apart, so that a nested agent cannot push its host's words out.
OLDER = """
    DELETE FROM reports WHERE member = :member AND (dropped = '') = (:dropped = '') AND seq <= (
        SELECT seq FROM reports WHERE member = :member AND (dropped = '') = (:dropped = '')
        ORDER BY seq DESC LIMIT 1 OFFSET :kept
    )
"""


def report(environ: Mapping[str, str], state: str, kind: str, payload: str) -> None:
    """Store that the agent this process belongs to says it is in `state`.

    A report from outside of a launch of ours, from another pane or from a nested agent changes nothing; where a
    member can be named it is kept with the reason it was dropped.
    """
    folder, member = environ.get("FAN_STATE_DIR", ""), environ.get("FAN_MEMBER", "")
    launch, pane = environ.get("FAN_LAUNCH", ""), environ.get("FAN_PANE", "")
    if not (folder and member and state in STATES):
        return
    if not os.path.exists(os.path.join(folder, NAME)):  # noqa: PTH110, PTH118
        return
    db = connect(folder, durable=False)
    try:
        found = db.execute("SELECT launch, pane, pid FROM members WHERE id = ?", (member,)).fetchone()
        if found is None:
            return
        dropped = _foreign(found, launch, pane)
        row = (member, launch, state, kind, time.time(), payload[:LARGEST_PAYLOAD], dropped)
        with transaction(db):
            db.execute(
                "INSERT INTO reports (member, launch, state, kind, at, payload, dropped) VALUES (?,?,?,?,?,?,?)", row
            )
            db.execute(OLDER, {"member": member, "dropped": dropped, "kept": KEPT})
    finally:
        db.close()
    ring(os.path.join(environ.get("FAN_RUNTIME_DIR", folder), "bell"))  # noqa: PTH118


def is_empty(folder: str, launch: str, *, unread: bool) -> bool:
    """Whether the inbox of the member of this launch holds nothing (unread), and has lost nothing untold."""
    if not os.path.exists(os.path.join(folder, NAME)):  # noqa: PTH110, PTH118
        return False
    db = connect(folder, durable=False)
    try:
        where = "AND read_at IS NULL AND closed_at IS NULL" if unread else ""
        sql = f"""
            SELECT NOT EXISTS (SELECT 1 FROM messages WHERE inbox = address {where})
            AND NOT EXISTS (SELECT 1 FROM evicted WHERE inbox = address AND NOT told)
            FROM (SELECT iif(inbox = '', launch, inbox) AS address FROM members WHERE launch = ?)
        """  # noqa: S608 - words of ours
        found = db.execute(sql, (launch,)).fetchone()
        return bool(found and found[0])
    finally:
        db.close()


def ring(bell: str) -> None:
    """Wake the courier, if one listens at the fifo `bell`."""
    try:
        fifo = os.open(bell, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return  # nobody listens: the courier reads the store when it next looks
    try:
        os.write(fifo, b".")
    except BlockingIOError:
        return  # the fifo is full of rings already
    finally:
        os.close(fifo)


def _foreign(found: tuple[str, str, int], launch: str, pane: str) -> str:
    """Why a report does not come from the agent that we launched; empty when it does."""
    if launch != found[0]:
        return "another launch"
    if found[1] and pane != found[1]:
        return "another pane"
    # Without a pane on record, the process is the one that is just making the member.
    return _not_of_pane(found[2]) if found[1] and found[2] else ""


def _not_of_pane(pane_pid: int) -> str:
    """Whether this process stands below the pane's program with no second one of its kind between (Linux only)."""
    if not os.path.isdir("/proc/self"):  # noqa: PTH112
        return ""
    own = _exe(pane_pid)
    pid = os.getppid()
    for _ in range(DEEPEST):
        if pid == pane_pid:
            return ""
        if pid <= 1:
            return "not below the pane's program"
        if own and _exe(pid) == own:
            return "a nested agent"
        pid = _parent(pid)
    return "too deep below the pane's program"


def _exe(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:
        return ""


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:  # noqa: PTH123
            return int(stat.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
