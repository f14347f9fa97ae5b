"""Mail on record: what is stored once, what goes for what, and that writers lose nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core import waking
from fan.core.mail import RING, Message, MessageKind
from fan.core.model import Delivery, Purpose, Status
from fan.errors import FanError, NotFound, RateLimited, StoreFailed, TooLarge
from fan.world.store.records import Store
from tests.support.cli import ROOT
from tests.support.wait import eventually


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state")


def message(number: int, **more: object) -> Message:
    """A message to the box `to` from `from`, one second after the one before it."""
    id_ = f"m{number}"
    one = Message(0, id_, "room", "to", "to", "from", "author", "process", "", f"body {number}", 1000.0 + number)
    return replace(one, **more)


def post(store: Store, *messages: Message) -> list[Message]:
    return [store.post([one], charge=False)[0].message for one in messages]


def test_the_257th_evicts_the_first_and_says_so(store: Store) -> None:
    """A room keeps 256; another room is not touched; what went is counted for the inbox it lay in, until that one's
    owner was told, and told by its id. Red when others of the room are told of what they have not lost."""
    post(store, message(-1, room="other", inbox="other"))
    post(store, *(message(number) for number in range(RING)))
    assert store.evicted("to") == 0
    (posted,) = store.post([message(RING)], charge=False)
    assert posted.evicted == 1
    assert [store.evicted(one) for one in ("to", "other", "room")] == [1, 0, 0]
    post(store, message(RING + 1))
    store.tell_evicted("to", 1)
    assert store.evicted("to") == 1
    assert [one.id for one in store.inbox("to")] == [f"m{number}" for number in range(2, RING + 2)]
    assert len(store.inbox("other")) == 1
    with pytest.raises(NotFound, match="evicted"):
        store.message("m0")


def test_half_a_megabyte_is_the_other_bound(store: Store) -> None:
    """65 messages of 8 KiB: the first one goes."""
    post(store, *(message(number, body="x" * 8192) for number in range(64)))
    assert len(store.inbox("to")) == 64
    assert store.post([message(64, body="x" * 8192)], charge=False)[0].evicted == 1


def test_threads(store: Store) -> None:
    """A reply stands in its parent's thread, one to an evicted parent too; one to an id never issued is refused."""
    first, second = post(store, message(0), message(1, reply_to="m0"))
    assert (first.thread, second.thread) == ("m0", "m0")
    post(store, *(message(number) for number in range(2, RING + 2)))
    (late,) = post(store, message(999, reply_to="m1"))
    assert (late.thread, late.reply_to_missing) == ("m0", True)
    with pytest.raises(NotFound, match="never"):
        store.post([message(1000, reply_to="nothing")])
    assert "m1000" not in [one.id for one in store.inbox("to")]


def test_the_same_key_is_the_same_message(store: Store) -> None:
    """Sent again it answers the first id, is stored once and not charged; another sender's key is its own."""
    first = store.post([message(0, key="k")])[0]
    for number in range(1, 30):
        again = store.post([message(number, key="k", at=1000.0)])[0]
        assert (again.repeated, again.message.id) == (True, first.message.id)
    assert not store.post([message(50, key="k", sender="another")])[0].repeated
    assert len(store.inbox("to")) == 2


def test_a_message_has_the_time_at_which_it_was_stored(store: Store) -> None:
    """One that was long in coming (a large file, other writers) is newer than a line typed meanwhile, which has not
    told of it; red when its time is that of the call: its reader, at rest, would never be told."""
    late = store.post([message(0, at=1000.0)], now=lambda: 1005.0)[0].message
    line = Delivery(1, "m", "text", 1001.0, status=Status.SENT, pasted_at=1002.0, purpose=Purpose.WAKE)
    assert waking.untold(store.unread("to"), line) == [late]


def test_the_courier_reads_nothing_of_those_that_are_gone(store: Store) -> None:
    """What lies unread for others is not looked at again and again."""
    post(store, message(0), message(1, inbox="gone"), message(2, read_at=1.0), message(3, inbox="x' OR '1"))
    found = store.unread_by_inbox(["to", "x' OR '1"])
    assert {inbox: [one.id for one in mail] for inbox, mail in found.items()} == {"to": ["m0"], "x' OR '1": ["m3"]}


def test_a_key_is_one_rooms(store: Store) -> None:
    """Two repositories may have a `fan/x:1` each: what was sent to one of them has not been sent to the other."""
    store.post([message(0, key="k")])
    other = store.post([message(1, key="k", room="other", inbox="other")])[0]
    assert (other.repeated, [one.id for one in store.inbox("other")]) == (False, ["m1"])


def test_no_copy_pushes_another_one_out(store: Store) -> None:
    """Copies that would not all stay are refused and none is stored; red when a receipt tells of what has gone."""
    copies = [message(number, body="x" * 8192, inbox=f"b{number}") for number in range(65)]
    with pytest.raises(TooLarge, match="65 copies"):
        store.post(copies)
    assert store.messages() == []
    assert [one.evicted for one in store.post(copies[:64])] == [0] * 64


def test_the_eleventh_in_a_row_is_refused_with_the_reason(store: Store) -> None:
    """Refused ones cost nothing and leave nothing; what is refused for another reason is not charged."""
    for number in range(10):
        store.post([message(number, at=1000.0)])
        with pytest.raises(FanError):
            store.post([message(100 + number, body="", at=1000.0)])
    with pytest.raises(RateLimited) as refused:
        store.post([message(10, at=1000.0)])
    assert "answering each other" in refused.value.message
    assert "fan mail read" in refused.value.hint
    assert len(store.inbox("to")) == 10
    store.post([message(11, at=1000.0, sender="another")])
    store.post([message(12, at=1002.1)])


def test_the_parents_owner_answers_it(store: Store) -> None:
    """Its `answered` is the first reply of whoever it lay with to who wrote it; a question is closed by it, mail is
    not. Red when a reply that goes to a third one counts: the person's question would be off their list, unanswered;
    or that of one who only claims to be the owner.
    """
    post(store, message(0), message(1, kind=MessageKind.QUESTION))
    post(store, message(2, reply_to="m0", sender="somebody", inbox="from"))
    post(store, message(5, reply_to="m0", sender="to", inbox="third"))
    post(store, message(6, reply_to="m1", sender="to", inbox="third"))
    assert [store.message(one).answered_at for one in ("m0", "m1")] == [None, None]
    assert store.message("m1").closed_at is None
    claim = replace(message(7, sender="to", verified="none"), inbox="from")
    post(store, replace(claim, reply_to="m0"))
    assert store.message("m0").answered_at is None
    answers = [replace(message(number, sender="to"), inbox="from") for number in (3, 4)]
    post(store, replace(answers[0], reply_to="m0"), replace(answers[1], reply_to="m1"))
    assert (store.message("m0").answered_at, store.message("m0").closed_at) == (1003.0, None)
    assert (store.message("m1").answered_at, store.message("m1").closed_at) == (1004.0, 1004.0)


WRITER = """
import sys
from pathlib import Path
from fan.core.mail import Message
from fan.world.store.records import Store
store, name, count = Store(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for n in range(count):
    one = Message(0, f"{name}-{n}", f"room-{name}", "to", "to", name, name, "process", "", f"body {n}", 1000.0 + n)
    print(store.post([one], charge=False)[0].message.seq, flush=True)
"""


def writers(folder: Path, count: int, each: int) -> list[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), f"w{n}", str(each)],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(count)
    ]


def test_32_writers_at_once_lose_and_double_nothing(store: Store) -> None:
    """32 processes store 100 messages each: all are there, each once, none has another's number.

    Red when a message's thread and number are decided outside of the transaction that stores it.
    """
    told = [process.communicate(timeout=100)[0].split() for process in writers(store.folder, 32, 100)]
    numbers = [int(number) for lines in told for number in lines]
    assert len(numbers) == len(set(numbers)) == 3200
    found = store.inbox("to")
    assert sorted(one.seq for one in found) == sorted(numbers)
    assert Counter(one.sender for one in found) == {f"w{n}": 100 for n in range(32)}
    assert [one.body for one in found if one.sender == "w7"] == [f"body {n}" for n in range(100)]


def test_what_a_killed_writer_was_told_is_stored(store: Store) -> None:
    """Killed at any moment: every message whose number it has printed is there, whole."""
    processes = writers(store.folder, 4, 400)
    eventually(lambda: len(store.inbox("to")) > 40, within=30)
    for process in processes:
        process.kill()
    told = {
        int(line)
        for process in processes
        for line in process.communicate()[0].splitlines(keepends=True)
        if line[-1] == "\n"
    }
    assert told <= {one.seq for one in store.inbox("to")}
    assert all(one.body.startswith("body ") for one in store.inbox("to"))


def test_a_damaged_store_is_reported_and_kept(store: Store) -> None:
    """Its bytes stay as they are, mail says which file cannot be used."""
    post(store, message(0))
    store.close()
    file = store.folder / "fan.sqlite3"
    for more in store.folder.glob("fan.sqlite3-*"):
        more.unlink()
    data = b"no database at all" * 500
    file.write_bytes(data)
    with pytest.raises(StoreFailed, match=r"fan\.sqlite3"):
        Store(store.folder).inbox("to")
    assert file.read_bytes() == data
