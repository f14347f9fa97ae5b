"""The one SQLite file: opened privately, migrated, never overwritten when it is damaged or newer.

Kept light: `fan report` runs a hundred times a day through here, with the standard library alone.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fan.errors import StoreFailed

NAME = "fan.sqlite3"
BUSY_MS = 5000

MIGRATIONS = (
    """
    CREATE TABLE groups (
        id TEXT PRIMARY KEY, stem TEXT NOT NULL, repo TEXT NOT NULL, base TEXT NOT NULL, base_oid TEXT NOT NULL,
        prompt TEXT NOT NULL, created_at REAL NOT NULL, creator_pid INTEGER NOT NULL, creator_started REAL NOT NULL,
        ended_at REAL
    );
    CREATE UNIQUE INDEX living_stems ON groups (repo, stem) WHERE ended_at IS NULL;
    CREATE TABLE members (
        id TEXT PRIMARY KEY, "group" TEXT NOT NULL REFERENCES groups (id), n INTEGER NOT NULL, branch TEXT NOT NULL,
        path TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, variant TEXT NOT NULL,
        base_oid TEXT NOT NULL, step TEXT NOT NULL, failure TEXT NOT NULL, warning TEXT NOT NULL,
        pane TEXT NOT NULL, launch TEXT NOT NULL, pid INTEGER NOT NULL, pid_started REAL NOT NULL, launched_at REAL,
        hold INTEGER NOT NULL, removed_at REAL
    );
    CREATE INDEX members_of_group ON members ("group");
    CREATE UNIQUE INDEX living_paths ON members (path) WHERE removed_at IS NULL;
    CREATE UNIQUE INDEX living_sessions ON members (session) WHERE removed_at IS NULL;
    CREATE TABLE deliveries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, member TEXT NOT NULL REFERENCES members (id), text TEXT NOT NULL,
        created_at REAL NOT NULL, status TEXT NOT NULL, phase TEXT NOT NULL, typed TEXT NOT NULL, note TEXT NOT NULL,
        guards TEXT NOT NULL, command INTEGER NOT NULL, first INTEGER NOT NULL, patience REAL NOT NULL,
        waited REAL NOT NULL, stepped_at REAL, pasted_at REAL, pressed_at REAL, presses INTEGER NOT NULL,
        done_at REAL, ready_by TEXT NOT NULL, evidence TEXT NOT NULL, seen_at REAL, report_seq INTEGER NOT NULL,
        before TEXT NOT NULL
    );
    CREATE INDEX deliveries_of_member ON deliveries (member);
    CREATE INDEX open_deliveries ON deliveries (phase) WHERE phase != 'done';
    CREATE TABLE reports (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, member TEXT NOT NULL, launch TEXT NOT NULL, state TEXT NOT NULL,
        kind TEXT NOT NULL, at REAL NOT NULL, payload TEXT NOT NULL, dropped TEXT NOT NULL
    );
    CREATE INDEX reports_of_launch ON reports (member, launch, seq);
    CREATE TABLE changes (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, member TEXT NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL,
        detail TEXT NOT NULL, decided_by TEXT NOT NULL, since REAL NOT NULL
    );
    CREATE INDEX changes_of_member ON changes (member, seq);
    CREATE TABLE removals (
        id TEXT PRIMARY KEY, repo TEXT NOT NULL, verb TEXT NOT NULL, at REAL NOT NULL, undone_at REAL
    );
    CREATE TABLE archives (
        id TEXT PRIMARY KEY, removal TEXT NOT NULL REFERENCES removals (id), member TEXT NOT NULL, path TEXT NOT NULL,
        trash TEXT NOT NULL, note TEXT NOT NULL, at REAL NOT NULL, restored_at REAL
    );
    CREATE TABLE courier (
        one INTEGER PRIMARY KEY CHECK (one = 1), pid INTEGER NOT NULL, started REAL NOT NULL, version TEXT NOT NULL
    );
    """,
    """
    ALTER TABLE members ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
    ALTER TABLE members ADD COLUMN adopted INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE approvals (repo TEXT NOT NULL, hash TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (repo, hash));
    CREATE TABLE leases (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, member TEXT NOT NULL);
    CREATE TABLE verifications (
        id INTEGER PRIMARY KEY AUTOINCREMENT, member TEXT NOT NULL, command TEXT NOT NULL, commit_oid TEXT NOT NULL,
        tree_oid TEXT NOT NULL, exit_code INTEGER, started_at REAL NOT NULL, ended_at REAL, output TEXT NOT NULL
    );
    CREATE INDEX verifications_of_member ON verifications (member, id);
    """,
    """
    ALTER TABLE members ADD COLUMN inbox TEXT NOT NULL DEFAULT '';
    ALTER TABLE members ADD COLUMN briefed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE deliveries ADD COLUMN purpose TEXT NOT NULL DEFAULT 'prompt';
    CREATE TABLE messages (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, room TEXT NOT NULL, inbox TEXT NOT NULL,
        recipient TEXT NOT NULL, sender TEXT NOT NULL, author TEXT NOT NULL, verified TEXT NOT NULL,
        thread TEXT NOT NULL, body TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, claim TEXT NOT NULL,
        subject TEXT NOT NULL, reply_to TEXT NOT NULL, reply_to_missing INTEGER NOT NULL, key TEXT NOT NULL,
        about TEXT NOT NULL, attachments TEXT NOT NULL, options TEXT NOT NULL, until REAL, woken_at REAL,
        read_at REAL, answered_at REAL, closed_at REAL,
        size INTEGER AS (LENGTH(CAST(body AS BLOB)) + LENGTH(CAST(subject AS BLOB)))
    );
    CREATE UNIQUE INDEX messages_by_key ON messages (sender, room, recipient, key) WHERE key != '';
    CREATE INDEX messages_of_inbox ON messages (inbox, seq);
    CREATE INDEX messages_of_room ON messages (room, seq, size);
    CREATE INDEX messages_of_thread ON messages (thread, seq);
    CREATE TABLE evicted (id TEXT PRIMARY KEY, room TEXT NOT NULL, thread TEXT NOT NULL, inbox TEXT NOT NULL);
    CREATE TABLE senders (address TEXT PRIMARY KEY, allowance REAL NOT NULL, at REAL NOT NULL);
    CREATE TABLE asks (
        id TEXT PRIMARY KEY, asker TEXT NOT NULL, target TEXT NOT NULL, delivery INTEGER NOT NULL,
        pid INTEGER NOT NULL, pid_started REAL NOT NULL, at REAL NOT NULL
    );
    CREATE TABLE stash (
        room TEXT NOT NULL, sha256 TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (room, sha256)
    );
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, kind TEXT NOT NULL, member TEXT NOT NULL,
        what TEXT NOT NULL, detail TEXT NOT NULL
    );
    CREATE TRIGGER state_event AFTER INSERT ON changes BEGIN
        INSERT INTO events (at, kind, member, what, detail)
            VALUES (new.since, iif(new.state = 'exited', 'exit', 'state'), new.member, new.state, new.kind);
    END;
    CREATE TRIGGER queued_event AFTER INSERT ON deliveries BEGIN
        INSERT INTO events (at, kind, member, what, detail)
            VALUES (new.created_at, 'delivery', new.member, new.status, CAST(new.id AS TEXT));
    END;
    CREATE TRIGGER delivery_event AFTER UPDATE OF status ON deliveries WHEN old.status != new.status BEGIN
        INSERT INTO events (at, kind, member, what, detail) VALUES (
            COALESCE(new.done_at, new.stepped_at, new.created_at), 'delivery', new.member, new.status,
            CAST(new.id AS TEXT)
        );
    END;
    CREATE TRIGGER woken AFTER UPDATE OF status ON deliveries WHEN new.status = 'sent' AND new.purpose = 'wake' BEGIN
        UPDATE messages SET woken_at = new.done_at
            WHERE inbox = (SELECT iif(inbox = '', launch, inbox) FROM members WHERE id = new.member)
            AND woken_at IS NULL AND at <= new.pasted_at AND (read_at IS NULL OR read_at >= new.pasted_at);
    END;
    CREATE TRIGGER message_event AFTER INSERT ON messages BEGIN
        INSERT INTO events (at, kind, member, what, detail) VALUES (new.at, 'message', new.about, new.kind, new.id);
    END;
    CREATE TRIGGER launched_event AFTER UPDATE OF pane ON members WHEN new.pane != '' AND old.pane != new.pane BEGIN
        INSERT INTO events (at, kind, member, what, detail) VALUES (
            COALESCE(new.launched_at, (julianday('now') - 2440587.5) * 86400.0), 'session', new.id, 'opened',
            new.session
        );
    END;
    CREATE TRIGGER removed_event AFTER UPDATE OF removed_at ON members
        WHEN old.removed_at IS NULL AND new.removed_at IS NOT NULL
    BEGIN
        INSERT INTO events (at, kind, member, what, detail)
            VALUES (new.removed_at, 'session', new.id, 'removed', new.session);
    END;
    CREATE TRIGGER bounded_events AFTER INSERT ON events WHEN new.seq % 100 = 0 BEGIN
        DELETE FROM events WHERE seq <= new.seq - 10000;
    END;
    """,
    """
    ALTER TABLE evicted ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX evicted_of_inbox ON evicted (inbox, told);
    """,
)


def connect(folder: str, *, durable: bool = True) -> sqlite3.Connection:
    """A connection to the store in `folder` (made 0700, the file 0600), migrated to this program's schema.

    What is written outlives a power cut when `durable`, else only every crash of ours. Raises StoreFailed when the
    file is damaged, newer, or cannot be opened; it is then left as it is.
    """
    path = os.path.join(folder, NAME)  # noqa: PTH118 - pathlib costs a hook's run as much as its insert
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        _made(path)
        db = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    except (sqlite3.Error, OSError) as error:
        raise _failed(path, error) from error
    try:
        _open(db, path, durable=durable)
    except sqlite3.Error as error:
        db.close()
        raise _failed(path, error) from error
    except StoreFailed:
        db.close()
        raise
    return db


def _made(path: str) -> None:
    """The file, ours alone. One that is there is not opened: closing it would drop the locks of this process's other
    connections, whose log the next process to leave would then delete under them."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _open(db: sqlite3.Connection, path: str, *, durable: bool) -> None:
    """The version is looked at before anything is written: a newer file stays as it is."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreFailed(
            f"{path} was written by a newer fan (schema {version}, this one knows {len(MIGRATIONS)}): it takes a"
            " newer fan, or another folder in FAN_STATE_DIR",
            not_done="nothing was read or changed",
            hint="fan --version",
        )
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    if version < len(MIGRATIONS):
        _migrate(db)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One short write; taken at its start, so that what is read in it stays true until it is written."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.execute("COMMIT")
    except BaseException:
        # A full disk ends the transaction in some cases and leaves it open in others.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _migrate(db: sqlite3.Connection) -> None:
    with transaction(db):
        version = db.execute("PRAGMA user_version").fetchone()[0]
        for script in MIGRATIONS[version:]:
            for statement in _statements(script):
                db.execute(statement)
        if version < len(MIGRATIONS):
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _statements(script: str) -> Iterator[str]:
    """Its statements; a trigger's own semicolons do not end it."""
    begun = ""
    for part in script.split(";"):
        begun += part + ";"
        if part.strip() and sqlite3.complete_statement(begun):
            yield begun
            begun = ""


def _failed(path: str, error: Exception) -> StoreFailed:
    damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
    hint = f"mv {shlex.quote(path)} ELSEWHERE" if damaged else f"ls -l {shlex.quote(path)}"
    return StoreFailed(
        f"the state file {path} cannot be used: {error}", not_done="it was left exactly as it is", hint=hint
    )
