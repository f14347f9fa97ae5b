"""Where things lie, and files written whole or not at all."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.errors import BadSetting, DiskFailed, NotAllowed
from fan.world.files import (
    append_private,
    delete,
    free_bytes,
    private_folder,
    write_private,
    write_program,
    write_prompt,
)
from fan.world.paths import LONGEST_SOCKET, Paths, find, trash_of


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """B074: all of this under umask 0."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_every_folder_can_be_moved(tmp_path: Path) -> None:
    """By its own variable; a relative one is refused, which would be another folder wherever one stands.

    Red when it is taken from here: state and worktrees then lie in the repository that one happens to stand in.
    """
    environ = {f"FAN_{name.upper()}_DIR": str(tmp_path / name) for name in ("state", "worktree", "config", "runtime")}
    paths = find(environ)
    assert paths == Paths(tmp_path / "state", tmp_path / "worktree", tmp_path / "config", tmp_path / "runtime")
    for name in environ:
        with pytest.raises(BadSetting, match=rf"{name} must be an absolute path, not `~/here`"):
            find(environ | {name: "~/here"})
    assert all(getattr(find({}), name).is_absolute() for name in Paths.__struct_fields__)


def test_two_state_folders_never_share_a_socket(tmp_path: Path) -> None:
    """The runtime folder follows the state folder, and the socket's path is short wherever that lies."""
    deep = tmp_path / ("d" * 200)
    one, two = find({"FAN_STATE_DIR": str(tmp_path)}), find({"FAN_STATE_DIR": str(deep)})
    assert one.runtime != two.runtime
    for environ in ({}, {"XDG_RUNTIME_DIR": str(deep)}, {"XDG_RUNTIME_DIR": "/nowhere"}):
        paths = find({"FAN_STATE_DIR": str(deep), **environ})
        assert len(os.fsencode(paths.socket)) < LONGEST_SOCKET
    short = Path("/tmp")
    assert find({"XDG_RUNTIME_DIR": str(short)}).runtime.parent == short


def test_what_lies_in_the_folders(tmp_path: Path) -> None:
    """Socket, bell, lock and members' folders are apart, the trash on the worktrees' file system."""
    paths = find({"FAN_STATE_DIR": str(tmp_path)})
    found = [
        paths.socket,
        paths.bell,
        paths.courier_lock,
        paths.logs,
        paths.recipes,
        paths.hold("m"),
        paths.member("m"),
    ]
    assert len(set(found)) == len(found)
    assert paths.hold("m") != paths.hold("n")
    assert trash_of(paths.worktrees).parent == paths.worktrees


def test_a_private_folder_is_the_users_alone(tmp_path: Path) -> None:
    """Made 0700, and one that was open to others is closed."""
    assert mode(private_folder(tmp_path / "a" / "b")) == 0o700
    assert mode(tmp_path / "a") == 0o700
    (tmp_path / "open").mkdir(mode=0o777)
    assert mode(private_folder(tmp_path / "open")) == 0o700


def test_a_private_folder_that_is_something_else_is_refused(tmp_path: Path) -> None:
    """A file, a link to a folder (somebody may have put it there), a link to nowhere."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for name, error in (("file", DiskFailed), ("link", NotAllowed), ("lost", DiskFailed), ("file/below", DiskFailed)):
        with pytest.raises(error):
            private_folder(tmp_path / name)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """A guessable place in /tmp may have been taken by another user."""
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 65534, 65534)
    with pytest.raises(NotAllowed):
        private_folder(tmp_path / "theirs")


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    """Mode 0600, any text, nothing temporary left; whoever has the old one open reads it to its end."""
    file = tmp_path / "own" / "a"
    write_private(file, "old")
    with file.open() as reader:
        write_private(file, "new ü \udcff")
        assert reader.read() == "old"
    assert file.read_text("utf-8", "surrogatepass") == "new ü \udcff"
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)
    assert list(file.parent.iterdir()) == [file]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """The place is a folder: told, and nothing temporary is left."""
    (tmp_path / "taken" / "x").mkdir(parents=True)
    with pytest.raises(DiskFailed):
        write_private(tmp_path / "taken", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_what_is_added_to_a_private_file_stands_at_its_end(tmp_path: Path) -> None:
    """Made for the user alone; one that cannot be written is told."""
    file = tmp_path / "log"
    append_private(file, "$ one\n")
    append_private(file, "$ zwei ü\n")
    assert file.read_text(encoding="utf-8") == "$ one\n$ zwei ü\n"
    assert mode(file) == 0o600
    with pytest.raises(DiskFailed, match="cannot be written"):
        append_private(tmp_path / "missing" / "log", "x")


def test_what_is_deleted_is_gone_whatever_it_was(tmp_path: Path) -> None:
    """Files, fifos, links (not what they lead to), folders, also ones that cannot be entered; gone already is well.

    Red when a fifo is taken for a folder, or a link is followed.
    """
    kept, shut = tmp_path / "kept", tmp_path / "shut"
    for folder in (kept, shut / "in"):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (shut / "in").chmod(0)
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(kept)
    for name in ("file", "fifo", "link", "shut", "missing"):
        delete(tmp_path / name)
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    assert (kept / "file").exists()


def test_a_program_is_written_only_when_it_differs(tmp_path: Path) -> None:
    """It can be run; while it says the same it is the same file, so that nobody runs half of it."""
    tool = tmp_path / "bin" / "tool"
    write_program(tool, "#!/bin/sh\necho one\n")
    first = tool.stat().st_ino
    write_program(tool, "#!/bin/sh\necho one\n")
    assert tool.stat().st_ino == first
    assert mode(tool) == 0o700
    write_program(tool, "#!/bin/sh\necho two\n")
    assert subprocess.run([tool], capture_output=True, text=True, check=True).stdout == "two\n"


def test_a_large_prompt_is_out_of_gits_sight(tmp_path: Path) -> None:
    """Byte for byte in the worktree, ignored by git, readable by the user alone."""
    subprocess.run(
        ["git", "init", "-q", str(tmp_path)], check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    )
    path = write_prompt(tmp_path, "prompt-m.md", "a\tb\n")
    write_prompt(tmp_path, "prompt-n.md", "c")
    assert path == ".fan/prompt-m.md"
    assert (tmp_path / path).read_bytes() == b"a\tb\n"
    assert mode(tmp_path / path) == 0o600
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    assert subprocess.run(status, capture_output=True, text=True, check=True, env=environ).stdout == ""


def test_a_large_prompt_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A file called .fan is in the repository."""
    (tmp_path / ".fan").write_text("")
    with pytest.raises(DiskFailed):
        write_prompt(tmp_path, "p.md", "x")


def test_free_space_is_that_of_the_nearest_folder(tmp_path: Path) -> None:
    """Also for a place that is not made yet."""
    assert free_bytes(tmp_path / "a" / "b") > 0
