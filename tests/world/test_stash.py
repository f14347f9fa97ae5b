"""The stash's files: whole or not at all, and nothing but regular files."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from fan.core.stash import LARGEST_FILE, Stashed
from fan.errors import DiskFailed, FanError, NotAllowed, NotFound, TooLarge, UsageError
from fan.world.stash import Stash, open_regular


@pytest.fixture
def stash(tmp_path: Path) -> Stash:
    return Stash(tmp_path / "stash")


def put(stash: Stash, file: Path, name: str = "f.txt") -> Stashed:
    """Copy and place a file as the verb does, without a row."""
    handle = open_regular(file)
    try:
        with stash.copied(handle) as copy, stash.locked():
            one = Stashed("human", copy.sha256, name, copy.size, 0.0)
            stash.place(copy, one)
    finally:
        os.close(handle)
    return one


def left(stash: Stash) -> list[Path]:
    """All files below it."""
    return [file for file in stash.folder.rglob("*") if file.is_file() and file.name != ".lock"]


def test_what_is_put_comes_back_byte_for_byte(stash: Stash, tmp_path: Path) -> None:
    """Its place tells its sha256; only the user can read it, and nobody writes to it by accident."""
    data = bytes(range(256)) * 9000
    (tmp_path / "a").write_bytes(data)
    one = put(stash, tmp_path / "a", "../x y")
    place = stash.path(one)
    assert stash.read(one) == data
    assert place.relative_to(stash.folder).parts == ("human", hashlib.sha256(data).hexdigest(), "x_y")
    assert place.stat().st_mode & 0o777 == 0o400
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in (stash.folder, *place.parents[:2]))
    assert put(stash, tmp_path / "a", "../x y") == one
    assert left(stash) == [place]


def test_a_file_that_was_changed_in_its_place_is_not_passed_off_as_what_was_put(stash: Stash, tmp_path: Path) -> None:
    """Goes red when reading does not check the digest."""
    (tmp_path / "a").write_text("good")
    one = put(stash, tmp_path / "a")
    stash.path(one).chmod(0o600)
    stash.path(one).write_text("evil")
    with pytest.raises(DiskFailed, match="changed since"):
        stash.read(one)
    stash.remove([one])
    with pytest.raises(NotFound):
        stash.read(one)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", [fifo, folder, link_to_device, broken_link, loop])
def test_what_is_no_regular_file_is_refused_at_once(
    stash: Stash, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A fifo would hang, a device never end. Goes red when a file is opened without a look at what it is."""
    make(tmp_path / "odd")
    with pytest.raises((UsageError, NotFound, DiskFailed)):
        put(stash, tmp_path / "odd")
    assert left(stash) == []


def test_a_file_above_the_bound_is_refused(stash: Stash, tmp_path: Path) -> None:
    """16 MiB are taken, a byte more is not."""
    with (tmp_path / "big").open("wb") as file:
        file.truncate(LARGEST_FILE)
    one = put(stash, tmp_path / "big")
    assert one.size == LARGEST_FILE
    os.truncate(tmp_path / "big", LARGEST_FILE + 1)
    with pytest.raises(TooLarge):
        put(stash, tmp_path / "big")
    assert left(stash) == [stash.path(one)]


@pytest.mark.parametrize("change", ["grow", "shrink", "rewrite"])
def test_a_file_that_changes_while_it_is_copied_is_refused(
    stash: Stash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Half of one version and half of the next is neither. Goes red when size and time are not looked at again."""
    file = tmp_path / "a"
    file.write_bytes(b"x" * (3 << 20))
    os.utime(file, ns=(1, 1))
    read = os.read

    def meanwhile(handle: int, size: int) -> bytes:
        got = read(handle, size)
        monkeypatch.setattr(os, "read", read)
        match change:
            case "grow":
                with file.open("ab") as more:
                    more.write(b"y")
            case "shrink":
                os.truncate(file, 1 << 20)
            case _:
                with file.open("r+b") as same:
                    same.write(b"z")
        return got

    monkeypatch.setattr(os, "read", meanwhile)
    with pytest.raises(DiskFailed, match="while it was copied"):
        put(stash, file)
    assert left(stash) == []


def test_killed_while_it_copies_it_leaves_nothing_that_counts(
    stash: Stash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half file has a name that is read; the next sweep takes the left-over away."""
    (tmp_path / "a").write_text("all of it")
    pid = os.fork()
    if pid == 0:
        monkeypatch.setattr(os, "fsync", lambda _handle: os.kill(os.getpid(), signal.SIGKILL))
        put(stash, tmp_path / "a")
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    (half,) = left(stash)
    assert half.parent == stash.folder
    stash.sweep([], 0.0)
    assert left(stash) == []


def test_the_sweep_keeps_what_is_on_record_and_what_is_being_copied(stash: Stash, tmp_path: Path) -> None:
    """Files without a row go, those of a living copier stay."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    kept, gone = put(stash, tmp_path / "a"), put(stash, tmp_path / "b")
    handle = open_regular(tmp_path / "a")
    with stash.copied(handle) as copy:
        stash.sweep([kept], 0.0)
        assert sorted(left(stash)) == sorted([copy.path, stash.path(kept)])
    os.close(handle)
    assert not stash.path(gone).parent.exists()


def test_a_file_must_really_lie_in_the_folder(tmp_path: Path) -> None:
    """Links are followed before it is decided; one that leads out is refused, one that stays inside is not.

    Goes red when the path that was given is what counts.
    """
    inside, secret = tmp_path / "in", tmp_path / "secret"
    (inside / "sub").mkdir(parents=True)
    secret.write_text("s")
    (inside / "sub/a").write_text("a")
    (inside / "out").symlink_to(secret)
    (inside / "up").symlink_to("..")
    (inside / "fine").symlink_to("sub/a")
    for name in ("out", "up/secret", "../secret", "sub/../../secret"):
        with pytest.raises(NotAllowed):
            open_regular(inside / name, inside)
    for name in ("fine", "sub/a", "up/in/sub/a"):
        handle = open_regular(inside / name, inside)
        assert os.read(handle, 9) == b"a"
        os.close(handle)


@pytest.mark.parametrize("part", ["sub", "sub/a"])
def test_a_link_that_is_swapped_in_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Between the decision and the opening the folder may change. Goes red when the whole path is opened at once."""
    inside, outside = tmp_path / "in", tmp_path / "other"
    for place in (inside / "sub", outside):
        place.mkdir(parents=True)
        (place / "a").write_text(place.name)
    opening = os.open

    def swapped(path: str, flags: int, **more: int) -> int:
        monkeypatch.setattr(os, "open", opening)
        (inside / part).rename(tmp_path / "away")
        (inside / part).symlink_to(outside if part == "sub" else outside / "a")
        return opening(path, flags, **more)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(FanError, match="changed meanwhile"):
        open_regular(inside / "sub/a", inside)
