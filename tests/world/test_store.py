"""The store: what is on record, whole or not at all."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core.model import Change, Delivery, Group, Member, Phase, Purpose, State, Status, Step, Typed
from fan.errors import AlreadyExists, Conflict, FanError, StoreFailed, UsageError
from fan.world.store.connection import MIGRATIONS, NAME, connect
from fan.world.store.records import Running, Store
from fan.world.store.removals import Archive, Removal

REPO = Path("/home/p/my [repo] 'ü'")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    found = Store(folder)
    yield found
    found.close()


def group(name: str = "g1", stem: str = "fan/x", **changes: object) -> Group:
    return replace(Group(name, stem, REPO, "main", "a" * 40, "[red]x; 'y'\n\0", 1.5, 7, 2.5), **changes)


def member(name: str = "m1", of: str = "g1", n: int = 1, **changes: object) -> Member:
    made = Member(name, of, n, f"fan/{name}", REPO / name, f"s-{name}", "demo", "", "a" * 40, Step.PLANNED)
    return replace(made, **changes)


def delivery(of: str = "m1", text: str = "do it;") -> Delivery:
    return Delivery(0, of, text, 3.5)


def put(store: Store, *members: Member, stem: str = "fan/x") -> None:
    """A group of these members, each with a delivery."""
    store.add_group(group(members[0].group, stem), members, [delivery(one.id) for one in members])


def test_what_is_put_on_record_reads_back_the_same(store: Store, folder: Path) -> None:
    """Every field of group, member and delivery survives, also for another connection."""
    one = member(warning="w", pane="%3", launch="l", pid=4, pid_started=5.5, launched_at=6.5, hold=True)
    store.add_group(group(), [one], [replace(delivery(), first=True, command=True, note="ü", before="b")])
    other = Store(folder)
    for reader in (store, other):
        assert reader.groups() == [reader.group("g1")] == [group()]
        assert reader.members() == [reader.member("m1")] == [one]
        (seen,) = reader.open_deliveries()
        assert seen == replace(delivery(), id=seen.id, first=True, command=True, note="ü", before="b")
        assert isinstance(seen.status, Status)
    other.close()


def test_a_group_is_recorded_whole_or_not_at_all(store: Store) -> None:
    """If its last member's folder is taken, nothing of the group is there. Red when each insert commits by itself."""
    put(store, member())
    with pytest.raises(AlreadyExists):
        put(store, member("m2", "g2"), member("m3", "g2", path=REPO / "m1"), stem="fan/y")
    with pytest.raises(AlreadyExists):
        put(store, member("m4", "g3", session="s-m1"), stem="fan/z")
    assert [one.id for one in store.groups()] == ["g1"]
    assert [one.id for one in store.members(living=False)] == ["m1"]
    assert [one.member for one in store.open_deliveries()] == ["m1"]


def test_of_two_groups_of_one_name_at_once_one_wins(folder: Path) -> None:
    """B065: the other is refused before anything is made; in another repository the name is free."""
    Store(folder).close()

    def start(n: int) -> str:
        own = Store(folder)
        try:
            put(own, member(f"m{n}", f"g{n}"))
        except AlreadyExists as refused:
            return refused.not_done
        finally:
            own.close()
        return "made"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(start, range(8)))
    assert sorted(answers) == ["made", *["nothing was made"] * 7]
    last = Store(folder)
    last.add_group(group("g9", repo=Path("/elsewhere")), [], [])
    assert len(last.groups()) == 2
    assert len(last.members()) == 1
    last.close()


def test_an_ended_group_gives_its_stem_back(store: Store) -> None:
    """Only once no member is left."""
    put(store, member(), member("m2", n=2))
    store.update_member("m1", removed_at=8.0)
    assert store.group("g1").ended_at is None
    store.update_member("m2", removed_at=9.0)
    assert store.group("g1").ended_at == 9.0
    assert store.groups() == []
    assert store.groups(living=False) == [group(ended_at=9.0)]
    put(store, member("m3", "g2", path=REPO / "m1", session="s-m1"))


def test_members_come_by_group_and_number(store: Store) -> None:
    """And only the living, unless asked."""
    put(store, member("m2", n=2), member("m1"), member("m10", n=10))
    store.add_group(group("g2", "fan/y"), [member("n1", "g2")], [])
    store.update_member("m2", removed_at=1.0)
    assert [one.id for one in store.members("g1")] == ["m1", "m10"]
    assert [one.id for one in store.members("g1", living=False)] == ["m1", "m2", "m10"]
    assert [one.id for one in store.members()] == ["m1", "m10", "n1"]


def test_a_member_is_changed_by_field(store: Store) -> None:
    """The member as it is now comes back; what others wrote meanwhile into other fields stays."""
    put(store, member())
    other = Store(store.folder)
    other.update_member("m1", warning="hook failed")
    assert store.update_member("m1", step=Step.READY, launched_at=4.0) == store.member("m1")
    assert (store.member("m1").warning, store.member("m1").step) == ("hook failed", Step.READY)
    other.close()


def test_deliveries_are_queued_in_order(store: Store) -> None:
    """Open ones until they are done; the newest of each member is its last."""
    put(store, member(), member("m2", n=2))
    second = store.add_delivery(delivery(text="more"))
    first, other, _ = store.open_deliveries()
    assert store.save_delivery(replace(first, phase=Phase.DONE, status=Status.SENT, done_at=9.0), was=first)
    assert not store.save_delivery(replace(first, note="too late"), was=first)
    assert store.open_deliveries() == [other, second]
    assert store.deliveries("m1") == [replace(first, phase=Phase.DONE, status=Status.SENT, done_at=9.0), second]
    assert store.last_deliveries() == {"m1": second, "m2": other}


def test_a_question_taken_back_is_nobodys_last_prompt(store: Store) -> None:
    """Nor is a line that tells of mail. A question that is under way, was sent, or stands in the composer is one.

    Red when any of them counts, or none.
    """
    put(store, member(), member("m2", n=2))
    prompt, _ = store.open_deliveries()
    ask = replace(delivery(text="Is it so?"), purpose=Purpose.ASK)
    for one in (replace(ask, status=Status.NOT_SENT, phase=Phase.DONE), replace(ask, purpose=Purpose.WAKE)):
        store.add_delivery(one)
        assert store.last_deliveries()["m1"] == prompt
    stands = replace(ask, status=Status.NOT_SENT, typed=Typed.YES, phase=Phase.WATCHING)
    for one in (ask, replace(ask, status=Status.SENT, typed=Typed.YES), stands):
        assert store.add_delivery(one) == store.last_deliveries()["m1"]


def test_states_are_kept_as_history(store: Store) -> None:
    """The last change of each member is its state."""
    one, two = Change("m1", State.WORKING, "", "", "report", 1.0), Change("m1", State.REST, "", "d", "screen", 2.0)
    store.add_change(one)
    store.add_change(two)
    assert store.last_changes() == {"m1": two}


def test_whatever_is_written_is_noticed(store: Store) -> None:
    """The version moves when we have written and when somebody else has, and stays when it was only read."""
    empty = store.version()
    put(store, member())
    before = store.version()
    assert before != empty
    store.members()
    assert store.version() == before
    other = Store(store.folder)
    other.update_member("m1", pid=1)
    other.close()
    assert store.version() != before


def take_away(store: Store, name: str = "a1", of: str = "m1") -> None:
    store.add_removal(Removal(f"r-{name}", REPO, "rm", 1.0))
    store.archive(Archive(name, f"r-{name}", of, REPO / of, REPO / "trash", "", 1.0))
    store.removed(name, 2.0)


def test_a_removal_and_its_undoing(store: Store) -> None:
    """The member is gone, then back, and its group lives again."""
    put(store, member())
    take_away(store)
    assert (store.member("m1").step, store.member("m1").removed_at) == (Step.PLANNED, 2.0)
    removal = store.last_removal(REPO)
    assert removal == Removal("r-a1", REPO, "rm", 1.0)
    assert [one.id for one in store.archives("r-a1")] == ["a1"]
    store.reclaim("a1")
    assert [one.id for one in store.archives("r-a1")] == ["a1"]
    assert store.unfinished("m1") == store.archives("r-a1")[0]
    store.restored("a1", 3.0)
    assert store.unfinished("m1") is None
    assert (store.member("m1").step, store.member("m1").removed_at) == (Step.PLANNED, None)
    assert store.groups() == [group()]
    assert store.archives("r-a1") == []
    store.undone("r-a1", 3.0)
    assert store.last_removal(REPO) is None
    assert store.last_removal(Path("/elsewhere")) is None


def test_what_was_given_away_meanwhile_cannot_come_back(store: Store) -> None:
    """Red when the store's own error escapes: `undo` after the same start again would end in a traceback."""
    put(store, member())
    take_away(store)
    put(store, member("m2", "g2"))
    with pytest.raises(Conflict):
        store.reclaim("a1")
    assert store.member("m1").removed_at == 2.0
    assert [one.id for one in store.archives("r-a1")] == ["a1"]
    store.update_member("m2", pid=1)


def test_the_courier_on_record(store: Store) -> None:
    """One at a time; a later one replaces it."""
    assert store.running() is None
    for running in (Running(1, 2.5, "0.1.0"), Running(3, 4.5, "0.2.0")):
        store.set_running(running)
        assert store.running() == running


def test_bytes_that_are_no_text_are_refused_in_a_sentence(store: Store) -> None:
    """A name with a byte that is no UTF-8: refused as a usage error, nothing recorded, and the store goes on."""
    with pytest.raises(UsageError):
        store.add_group(group(repo=Path("/home/p/\udcff")), [], [])
    assert store.groups() == []
    put(store, member())


def test_the_files_are_the_users_alone(folder: Path) -> None:
    """B074: 0600 in a 0700 folder also under umask 0, the log beside it included."""
    before = os.umask(0)
    try:
        store = Store(folder)
        put(store, member())
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert modes == dict.fromkeys((NAME, f"{NAME}-wal", f"{NAME}-shm", "turn.lock", "turn.bell"), 0o600)
    store.close()


def test_an_empty_store_is_migrated(folder: Path) -> None:
    """From nothing to this program's schema; opening again changes nothing."""
    for _ in range(2):
        db = connect(str(folder))
        assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("SELECT COUNT(*) FROM groups").fetchone()[0] == 0
        db.close()


def test_a_migration_that_fails_leaves_nothing_half_done(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second step with an error: the first one's tables are there, none of the second's."""
    connect(str(folder)).close()
    broken = ("CREATE TABLE extra (a); CREATE TABLE groups (a)",)
    monkeypatch.setattr("fan.world.store.connection.MIGRATIONS", MIGRATIONS + broken)
    with pytest.raises(StoreFailed):
        connect(str(folder))
    monkeypatch.undo()
    db = connect(str(folder))
    assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    assert db.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'extra'").fetchone()[0] == 0
    db.close()


@pytest.mark.parametrize(
    "damage", [b"not a database at all, but long enough to look at" * 40, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_a_damaged_file_is_told_and_kept(folder: Path, damage: bytes) -> None:
    """Byte for byte as it was, nothing beside it, the file named and a way out given."""
    folder.mkdir()
    (folder / NAME).write_bytes(damage)
    with pytest.raises(StoreFailed) as refused:
        Store(folder)
    assert str(folder / NAME) in refused.value.message
    assert refused.value.hint
    assert (folder / NAME).read_bytes() == damage
    assert [file.name for file in folder.iterdir()] == [NAME]


def test_damage_found_later_is_told_as_ours(folder: Path) -> None:
    """Pages that are wrong inside a file that opens: StoreFailed, not sqlite's own error."""
    store = Store(folder)
    put(store, *(member(f"m{n}", n=n) for n in range(200)))
    store.close()
    size = (folder / NAME).stat().st_size
    with (folder / NAME).open("r+b") as file:
        file.seek(size * 3 // 4)
        file.write(b"\xff" * (size - size * 3 // 4))
    again = Store(folder)
    with pytest.raises(StoreFailed):
        again.members()
    again.close()


def test_a_newer_file_is_told_and_kept(folder: Path) -> None:
    """Whatever its journal: red when anything is written before the version was looked at."""
    folder.mkdir()
    db = sqlite3.connect(folder / NAME)
    db.executescript("CREATE TABLE future (a); PRAGMA user_version = 99")
    db.close()
    before = (folder / NAME).read_bytes()
    with pytest.raises(StoreFailed) as refused:
        Store(folder)
    assert "newer" in refused.value.message
    assert "newer fan" in refused.value.message
    assert (folder / NAME).read_bytes() == before
    assert [file.name for file in folder.iterdir()] == [NAME]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """StoreFailed with the path."""
    tmp_path.chmod(0o500)
    with pytest.raises(StoreFailed):
        Store(tmp_path / "state")


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    """The state folder's name is taken by a file: one sentence, no traceback."""
    (tmp_path / "state").write_text("")
    with pytest.raises(FanError):
        Store(tmp_path / "state")


WRITER = """
import sys
from pathlib import Path
from fan.core.model import Delivery
from fan.world.store.records import Store
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for n in range(25):
    store.add_delivery(Delivery(0, sys.argv[2], str(n), 0.0))
    store.update_member(sys.argv[2], warning=str(n))
store.close()
"""


def test_many_processes_at_once_lose_nothing(folder: Path) -> None:
    """16 processes open a store that is not there yet, then write together: each finds all it wrote, in order.

    Red when a write that reads first is not taken at its start (the busy time-out does not help a deferred one).
    """
    argv = [sys.executable, "-c", WRITER, str(folder)]
    writers = [
        subprocess.Popen([*argv, f"m{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(16)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    store = Store(folder)
    store.add_group(group(), [member(f"m{n}", n=n) for n in range(16)], [])
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda writer: writer.communicate("\n", timeout=60), writers))
    assert [writer.returncode for writer in writers] == [0] * 16
    assert [one.warning for one in store.members()] == ["24"] * 16
    for n in range(16):
        assert [one.text for one in store.deliveries(f"m{n}")] == [str(k) for k in range(25)]
    store.close()


def test_threads_share_one_store(store: Store) -> None:
    """Each thread's read-then-write is whole: no change of another is lost."""
    put(store, *(member(f"m{n}", n=n) for n in range(8)))

    def work(n: int) -> None:
        for k in range(20):
            store.update_member(f"m{n}", pid=store.member(f"m{n}").pid + 1)
            store.update_member("m0", warning=f"{n}-{k}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert [one.pid for one in store.members()] == [20] * 8


def test_a_broken_off_transaction_leaves_the_store_usable(store: Store) -> None:
    """Whatever interrupts it, Ctrl-C too: nothing of it is there and the next write goes through."""

    class Odd(str):
        __slots__ = ()

        def __conform__(self, protocol: object) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add_group(group(), [member(), member("m2", n=2, warning=Odd("x"))], [])
    assert store.groups() == []
    put(store, member())
