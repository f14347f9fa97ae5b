"""`fan stash`, and files handed over by mail."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core import stash as rules
from fan.core.caller import Caller, Verified, Who
from fan.core.mail import BURST, Attachment, Message
from fan.core.model import Member
from fan.courier.rooms import sweep
from fan.errors import Ambiguous, Conflict, DiskFailed, FanError, NotAllowed, NotFound, RateLimited, TooLarge
from fan.verbs import stash
from fan.verbs.mail import MailRequest, mail
from fan.verbs.mailbox import view
from fan.verbs.remove import RemoveRequest, remove
from fan.verbs.undo import undo
from fan.world.world import World, open_world
from tests.support.disk import small_disk
from tests.support.groups import Groups, open_groups

DAY = 86400.0


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


def acting(groups: Groups, member: Member, verified: Verified = Verified.PROCESS) -> World:
    """The world as the agent of a member has it."""
    caller = Caller(Who.MEMBER, verified, member, member.agent)
    return open_world(groups.environ, member.path, caller)


def person(groups: Groups) -> World:
    """The world as a person in the repository has it."""
    return open_world(groups.environ, groups.top, Caller(Who.HUMAN, Verified.PROCESS))


def handed(world: World, path: str, room: str) -> Attachment:
    """The file as a message in `room` gets it."""
    with stash.handed_over(world, [path], room) as given:
        return given.files[0]


def attach(world: World, room: str, path: Path, number: int = 1, at: float | None = None) -> Message:
    """A message in `room` that the file was handed over for."""
    message = Message(
        seq=0,
        id=f"message{number}",
        room=room,
        inbox="box",
        recipient="b",
        sender="me",
        author="a",
        verified="process",
        thread="",
        body="x",
        at=world.clock.now() if at is None else at,
        attachments=(handed(world, str(path), room),),
    )
    return world.store.post([message], charge=False)[0].message


def test_a_file_of_a_worktree_is_stashed_and_outlives_it(groups: Groups) -> None:
    """Handed over from a worktree it is copied, so that it can be read when the worktree has gone.

    Goes red when the path itself is handed over.
    """
    one, two = groups.group(2)
    file = one.path / "log.txt"
    file.write_text("what happened")
    given = handed(acting(groups, one), str(file), two.group)
    file.unlink()
    assert (given.name, given.size) == ("log.txt", 13)
    assert Path(given.path).is_relative_to(groups.world.paths.state / "stash" / two.group)
    assert Path(given.path).read_text() == "what happened"
    assert stash.get(acting(groups, two), given.sha256[:8]) == b"what happened"


def test_another_path_stays_a_path_and_reads_missing_once_it_has_vanished(groups: Groups) -> None:
    """What lies elsewhere is not copied; its reader is told when it is no longer there."""
    (one,) = groups.group(1)
    file = groups.folder / "home" / "notes.txt"
    file.write_text("n")
    message = attach(acting(groups, one), one.group, file)
    assert (message.attachments[0].path, groups.world.store.stashed()) == (str(file), [])
    assert not view(message, {}).attachments[0].missing
    file.unlink()
    assert view(message, {}).attachments[0].missing
    with pytest.raises(NotFound):
        handed(acting(groups, one), str(file), one.group)


def test_a_stored_path_is_attached_to_the_recipient_s_room(groups: Groups) -> None:
    """`--attach $(fan stash put F)` keeps the bytes where the message lies, whosever room it was put into."""
    (one,) = groups.group(1)
    file = groups.top / "a.txt"
    put = stash.put(person(groups), str(file))
    assert put.room == f"repo:{groups.top}"
    given = handed(person(groups), put.path, one.group)
    assert Path(given.path).is_relative_to(groups.world.stash.folder / one.group)
    stash.rm(person(groups), put.path)
    assert Path(given.path).read_bytes() == file.read_bytes()


def test_the_same_file_is_kept_once_under_its_first_name(groups: Groups) -> None:
    """Kept by content: a second put answers the first one's path, and repairs it where it was lost."""
    (one,) = groups.group(1)
    world = acting(groups, one)
    for name in ("x.txt", "y.txt"):
        (one.path / name).write_text("same")
    first = stash.put(world, str(one.path / "x.txt"))
    world.stash.remove(world.store.stashed())
    assert [kept.missing for kept in stash.ls(world)] == [True]
    second = stash.put(world, str(one.path / "y.txt"))
    assert (first.path, len(world.store.stashed())) == (second.path, 1)
    assert stash.get(world, first.id) == b"same"


def test_who_sits_in_a_sandbox_hands_over_only_what_it_could_write(groups: Groups) -> None:
    """We read more than a sandboxed member can: neither another path, nor a link, nor another's worktree.

    Goes red when a caller that is verified by its folder alone may name any path.
    """
    one, two = groups.group(2)
    world = acting(groups, one, Verified.FOLDER)
    secret = groups.folder / "home" / ".netrc"
    secret.write_text("password")
    (one.path / "link").symlink_to(secret)
    (one.path / "up").symlink_to(groups.folder)
    for path in (secret, one.path / "link", one.path / "up/home/.netrc", two.path / "a.txt", groups.top / "a.txt"):
        for act in (lambda p: stash.put(world, p), lambda p: handed(world, p, "human")):
            with pytest.raises(NotAllowed):
                act(str(path))
    requests = world.paths.requests(one.id)
    requests.mkdir(parents=True)
    (requests / "f").write_text("f")
    put = stash.put(world, str(requests / "f"))
    assert handed(world, put.path, "human").sha256 == put.sha256
    assert handed(world, str(one.path / "a.txt"), "human").size == 2
    with pytest.raises(NotAllowed):
        stash.save(world, put.id, str(one.path / "copy"))
    assert not (one.path / "copy").exists()


def test_each_sees_its_own_room_and_the_person_all(groups: Groups, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent of another group can neither list, get nor remove; an ambiguous prefix is refused."""
    (one,), (two,) = groups.group(1), groups.group(1)
    put = stash.put(acting(groups, one), str(one.path / "a.txt"))
    assert [kept.room for kept in stash.ls(person(groups))] == [groups.world.store.group(one.group).stem]
    assert stash.ls(acting(groups, two)) == []
    for act in (stash.get, stash.rm):
        with pytest.raises(NotFound):
            act(acting(groups, two), put.id)
    with pytest.raises(NotFound):
        stash.get(person(groups), put.id[:3])
    number = 0
    while len([kept for kept in stash.ls(person(groups)) if kept.id[0] == put.id[0]]) < 2:
        number += 1
        (one.path / "n").write_text(str(number))
        stash.put(acting(groups, one), str(one.path / "n"))
    monkeypatch.setattr("fan.verbs.stash.SHORTEST_ID", 1)
    with pytest.raises(Ambiguous):
        stash.get(person(groups), put.id[0])


def test_saving_makes_a_new_file_and_never_replaces_one(groups: Groups) -> None:
    """`get -o` onto a file that is there is refused, and it stays as it was."""
    put = stash.put(person(groups), str(groups.top / "a.txt"))
    assert stash.save(person(groups), put.id, str(groups.folder / "new")).read_text() == "a\n"
    (groups.folder / "mine").write_text("mine")
    with pytest.raises(FanError, match="is there already"):
        stash.save(person(groups), put.id, str(groups.folder / "mine"))
    assert (groups.folder / "mine").read_text() == "mine"


def fill(world: World, folder: Path, count: int, size: int) -> list[stash.Kept]:
    """Put so many files of this size."""
    kept = []
    for number in range(count):
        file = folder / f"fill{number}"
        file.write_bytes(os.urandom(size))
        kept.append(stash.put(world, str(file)))
    return kept


def test_the_oldest_go_when_a_room_is_full_and_what_a_message_points_to_stays(
    groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The room holds four: the fifth takes the oldest's place; where all are pointed to, the put is refused whole.

    Goes red when a file that a message points to is evicted, or when a refused put leaves its file or its row.
    """
    monkeypatch.setattr(rules, "LARGEST_ROOM", 4096)
    (one,) = groups.group(1)
    world = acting(groups, one)
    kept = fill(world, one.path, 4, 1024)
    attach(world, one.group, one.path / "fill0")
    (fifth,) = fill(world, one.path, 1, 1024)
    shas = [one.sha256 for one in stash.ls(world)]
    assert sorted(shas) == sorted([kept[0].sha256, kept[2].sha256, kept[3].sha256, fifth.sha256])
    assert not Path(kept[1].path).parent.exists()
    with pytest.raises(Conflict):
        stash.rm(world, kept[0].id)
    for number, path in enumerate((kept[2].path, kept[3].path, fifth.path), 2):
        attach(world, one.group, Path(path), number)
    before = stash.ls(world)
    with pytest.raises(TooLarge, match="full"):
        fill(world, one.path, 1, 1024)
    assert stash.ls(world) == before
    files = [file for file in world.stash.folder.rglob("*") if file.is_file() and file.name != ".lock"]
    assert sorted(map(str, files)) == sorted(kept.path for kept in before)


def test_a_message_that_is_refused_leaves_no_copy_and_takes_nobody_s(
    groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too long, too many files, one that is not there, one too large, an unknown id, too soon: whatever is wrong with
    a message, no file of it stays and none of anybody else's goes; the same where storing itself fails.

    Red when files are copied before the message is known to be good, or one by one.
    """
    monkeypatch.setattr(rules, "LARGEST_ROOM", 4096)
    (one,) = groups.group(1)
    world, home = acting(groups, one), groups.folder / "home"
    fill(open_world(groups.environ, home, Caller(Who.HUMAN, Verified.PROCESS)), home, 3, 1300)
    for number in range(9):
        (one.path / f"f{number}").write_bytes(os.urandom(1024))
    (one.path / "small").write_bytes(b"small")
    with (one.path / "huge").open("wb") as file:
        file.truncate((16 << 20) + 1)
    paths = tuple(str(one.path / f"f{number}") for number in range(9))
    before = stash.ls(person(groups))
    files = sorted(world.stash.folder.rglob("*"))
    for request in (
        MailRequest("human", "x" * 9000, attach=paths[:1]),
        MailRequest("human", "x", "s" * 121, attach=paths[:1]),
        MailRequest("human", "x", attach=paths),
        MailRequest("human", "x", attach=(paths[0], str(one.path / "nofile"))),
        MailRequest("human", "x", attach=(paths[0], str(one.path / "huge"))),
        MailRequest("human", "x", attach=paths[:5]),
        MailRequest("human", "x", attach=paths[:1], reply_to="nonsense"),
    ):
        with pytest.raises(FanError):
            mail(world, request)
        assert (stash.ls(person(groups)), sorted(world.stash.folder.rglob("*"))) == (before, files), request
    with monkeypatch.context() as failing, pytest.raises(DiskFailed):
        failing.setattr(world.store, "post", refuse)
        mail(world, MailRequest("human", "x", attach=(str(one.path / "small"),)))
    for _ in range(BURST):
        mail(world, MailRequest("human", "x"))
    with pytest.raises(RateLimited):
        mail(world, MailRequest("human", "x", attach=paths[:1]))
    assert stash.ls(person(groups)) == before


def test_a_repeated_send_leaves_no_second_copy(groups: Groups) -> None:
    """The same key after the file has changed: the first message stands, and what it did not take does not stay."""
    (one,) = groups.group(1)
    request = MailRequest("human", "x", attach=(str(one.path / "a.txt"),), key="k")
    mail(acting(groups, one), request)
    before = stash.ls(person(groups))
    (one.path / "a.txt").write_text("changed")
    assert mail(acting(groups, one), request).sent[0].repeated
    assert stash.ls(person(groups)) == before


def refuse(*_: object, **__: object) -> None:
    """A store that fails."""
    raise DiskFailed("the disk is full", not_done="nothing was sent")


def test_many_puts_at_once_keep_every_bound(groups: Groups, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight at a time, of six contents, into a room for four: rows and files agree, each file is whole.

    Goes red when files and rows are changed without the lock.
    """
    monkeypatch.setattr(rules, "LARGEST_ROOM", 4096)
    (one,) = groups.group(1)
    for number in range(6):
        (one.path / f"f{number}").write_bytes(bytes([number]) * 1000)
    failed: list[Exception] = []

    def putting(number: int) -> None:
        try:
            for turn in range(12):
                stash.put(acting(groups, one), str(one.path / f"f{(number + turn) % 6}"))
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=putting, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    world = acting(groups, one)
    kept = stash.ls(world)
    assert [one.missing for one in kept] == [False] * 4
    assert all(stash.get(world, one.id) for one in kept)
    files = [str(file) for file in world.stash.folder.rglob("*") if file.is_file() and file.name != ".lock"]
    assert sorted(files) == sorted(one.path for one in kept)


def test_a_full_disk_is_said_and_leaves_nothing(groups: Groups, tmp_path: Path) -> None:
    """Half a file is no file: the put is refused and its space given back."""
    with small_disk(groups.world.stash.folder, "256k") as place:
        (one,) = groups.group(1)
        (one.path / "big").write_bytes(os.urandom(1 << 20))
        with pytest.raises(FanError, match="No space left"):
            stash.put(acting(groups, one), str(one.path / "big"))
        assert groups.world.store.stashed() == []
        assert [file.name for file in place.rglob("*") if file.is_file()] == []
        (one.path / "small").write_bytes(b"s")
        assert stash.get(acting(groups, one), stash.put(acting(groups, one), str(one.path / "small")).id) == b"s"


def aged(groups: Groups, days: float) -> World:
    """The courier's world so many days later."""
    world = open_world(groups.environ, groups.top)
    now = world.clock.now()

    class Later(type(world.clock)):  # type: ignore[misc]
        def now(self) -> float:
            return now + days * DAY

    return World(world.environ, world.cwd, Later(), world.paths)


@pytest.mark.parametrize(("whole", "kept_for", "gone_after"), [(True, 6.9, 7.1), (False, 29.9, 30.1)])
def test_a_room_ends_with_the_trash_of_its_group_or_a_month_after_its_last_worktree(
    groups: Groups, whole: bool, kept_for: float, gone_after: float
) -> None:
    """`group rm` and `undo` have mail and stash again; once the trash has gone they go too.

    Goes red when a room ends while `undo` could still want it, or never.
    """
    (one,) = groups.group(1)
    attach(acting(groups, one), one.group, one.path / "a.txt")
    stash.put(person(groups), str(groups.top / "b.txt"))
    stem = groups.world.store.group(one.group).stem
    request = RemoveRequest(group=stem) if whole else RemoveRequest((one.id,))
    remove(groups.world, request)
    sweep(aged(groups, kept_for))
    assert [message.room for message in groups.world.store.messages()] == [one.group]
    assert len(groups.world.store.stashed(one.group)) == 1
    sweep(aged(groups, gone_after))
    assert groups.world.store.messages() == []
    assert groups.world.store.stashed(one.group) == []
    assert not (groups.world.stash.folder / one.group).exists()
    assert len(stash.ls(person(groups))) == (1 if gone_after < 30 else 0)


def test_a_room_that_was_taken_back_does_not_end(groups: Groups) -> None:
    """After `undo` the group lives: its mail and its files stay however long ago it was removed."""
    (one,) = groups.group(1)
    attach(acting(groups, one), one.group, one.path / "a.txt")
    remove(groups.world, RemoveRequest(group=groups.world.store.group(one.group).stem))
    undo(groups.world)
    sweep(aged(groups, 400))
    assert [message.room for message in groups.world.store.messages()] == [one.group]
    assert stash.get(acting(groups, one), groups.world.store.stashed(one.group)[0].sha256) == b"a\n"
