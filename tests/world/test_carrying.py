"""What patterns mean in a real checkout, and files carried into another one."""

from __future__ import annotations

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fan.core.model import Group, Member, Step
from fan.core.setup import Keys, Setup, free_range, written
from fan.errors import DiskFailed
from fan.world import carrying, ports
from fan.world.store.records import Store
from tests.support.repos import RepoBuilder

IGNORE = ".env\nbuild/\nnode_modules/\n*.local\n"


@pytest.fixture
def repos(tmp_path: Path) -> RepoBuilder:
    """Repositories in the test's own folder."""
    return RepoBuilder(tmp_path)


def _repo(repos: RepoBuilder) -> Path:
    """A checkout with ignored, untracked and tracked files, dependencies and a repository inside."""
    top = repos.repo()
    repos.commit(top, {".gitignore": IGNORE, "conf/base": "1\n", "web/index.js": "1\n"})
    repos.write(top, {".env": "KEY=1\n", "AGENTS.md": "Be kind.\n", "conf/a.local": "1\n", "notes/x.txt": "1\n"})
    repos.write(top, {"node_modules/a/.env": "1\n", "web/node_modules/b/i.js": "1\n", "build/out/o.bin": "1\n"})
    repos.write(top, {"notes/.env": "1\n", ".fan/prompt-1.md": "ours\n"})
    repos.repo("api/inner")
    (top / "loop").symlink_to("..")
    return top


def _setup(copy: tuple[str, ...] = (), link: tuple[str, ...] = (), include: tuple[str, ...] = ()) -> Setup:
    return Setup(Keys(copy=copy, link=link), include, "fan.toml")


@pytest.mark.parametrize(
    ("copy", "include", "found"),
    [
        ([".env"], [], [".env", "notes/.env"]),
        (["/.env"], [], [".env"]),
        ([], [".env", "AGENTS.md", "notes/"], [".env", "notes/.env"]),
        (["AGENTS.md"], [], ["AGENTS.md"]),
        (["notes/"], [], ["notes/.env", "notes/x.txt"]),
        (["build"], [], ["build/out/o.bin"]),
        (["*"], [], [".env", "AGENTS.md", "build/out/o.bin", "conf/a.local", "loop", "notes/.env", "notes/x.txt"]),
        (["*.js"], [], []),
        (["node_modules"], [], ["node_modules/a/.env", "web/node_modules/b/i.js"]),
        (["/node_modules/"], [], ["node_modules/a/.env"]),
        (["conf/*", "README.md"], [], ["conf/a.local"]),
        ([".env", "!notes/.env"], [], [".env"]),
        (["inner/", "inner/README.md"], [], []),
        (["loop/"], [], []),
    ],
)
def test_what_is_copied(repos: RepoBuilder, copy: list[str], include: list[str], found: list[str]) -> None:
    """Untracked and ignored files that fit, `.worktreeinclude` only ignored ones; tracked files, dependencies that
    are not spelled out, repositories inside and what a link leads to never."""
    top = _repo(repos)
    setup = _setup(tuple(copy), (), tuple(include))
    assert carrying.to_copy(repos.open(top), setup) == found


def test_dependency_folders_are_not_walked(repos: RepoBuilder) -> None:
    """For patterns that do not spell them out, dependency folders are not even opened.

    Red when they are entered and left out afterwards.
    """
    top = _repo(repos)
    repo = repos.open(top)
    entered: list[Path] = []
    scan = os.scandir

    def noted(path: Path) -> object:
        entered.append(path)
        return scan(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", noted)
        carrying.to_copy(repo, _setup((".env", "*.js")))
    assert entered
    assert not [path for path in entered if "node_modules" in path.parts]


def test_links_are_found_in_the_main_checkout(repos: RepoBuilder) -> None:
    """From a linked worktree too, the main checkout is what links lead to; a whole folder is one link."""
    top = _repo(repos)
    linked = repos.home / "linked"
    repos.git(top, "worktree", "add", "--quiet", "-b", "work", str(linked))
    repo = repos.open(linked)
    setup = _setup(link=("node_modules", "*.local"))
    assert carrying.to_link(repo, setup) == ["conf/a.local", "node_modules", "web/node_modules"]
    assert carrying.link(repo.root, linked, ["node_modules", "web/node_modules"]) == []
    assert (linked / "web" / "node_modules").readlink() == top / "web" / "node_modules"
    assert repo.unignored(linked, ["node_modules", "conf/a.local"]) == ["node_modules"]


def test_a_copy_is_the_same_file(repos: RepoBuilder) -> None:
    """Content, mode and time are kept, links stay links, and a folder's mode too."""
    top = _repo(repos)
    (top / ".env").chmod(0o600)
    os.utime(top / ".env", (1, 1))
    (top / "notes").chmod(0o700)
    (top / "notes" / "out").symlink_to("/etc/hostname")
    target = repos.home / "target"
    target.mkdir()
    assert carrying.copy(top, target, [".env", "notes/out", "notes/x.txt"]) == []
    made = (target / ".env").stat()
    assert (made.st_mode & 0o777, made.st_mtime) == (0o600, 1)
    assert (target / ".env").read_text() == "KEY=1\n"
    assert str((target / "notes" / "out").readlink()) == "/etc/hostname"
    assert (target / "notes").stat().st_mode & 0o777 == 0o700


def test_what_is_there_stays_and_no_link_is_followed_out(repos: RepoBuilder) -> None:
    """A file of the worktree's own is not overwritten; nothing is written through a folder that is a link.

    Red when the folders above are made without a look.
    """
    top = _repo(repos)
    target, outside = repos.home / "target", repos.home / "outside"
    target.mkdir()
    outside.mkdir()
    (target / ".env").write_text("mine\n")
    (target / "notes").symlink_to(outside)
    assert carrying.copy(top, target, [".env", "notes/x.txt"]) == [".env", "notes/x.txt"]
    assert carrying.link(top, target, ["notes/x.txt"]) == ["notes/x.txt"]
    assert (target / ".env").read_text() == "mine\n"
    assert list(outside.iterdir()) == []


def test_a_file_that_has_gone_meanwhile_is_an_error_that_names_it(repos: RepoBuilder) -> None:
    """What was planned is there, or the failure says what is not."""
    top = _repo(repos)
    with pytest.raises(DiskFailed, match="gone-away"):
        carrying.copy(top, repos.home, ["gone-away"])


def test_a_setup_is_told_by_all_that_it_does() -> None:
    """The fingerprint changes with every key and line, and not with the file's name."""
    plain = Setup(Keys(setup=("a",)), (), "fan.toml")
    assert plain.fingerprint == Setup(Keys(setup=("a",)), (), "pyproject.toml").fingerprint
    others = [
        Setup(Keys(setup=("a",), teardown=("a",)), (), ""),
        Setup(Keys(teardown=("a",)), (), ""),
        Setup(Keys(setup=("a",), ports=1), (), ""),
        Setup(Keys(setup=("a",), timeout=1), (), ""),
        Setup(Keys(setup=("a",), check="a"), (), ""),
        Setup(Keys(setup=("a",)), ("a",), ""),
        Setup(Keys(setup=("a",), copy=("a",)), (), ""),
        Setup(Keys(setup=("a",), link=("a",)), (), ""),
    ]
    assert len({one.fingerprint for one in (plain, *others)}) == len(others) + 1
    assert all(written(one) != written(plain) for one in others if one.keys.timeout == plain.keys.timeout)


@pytest.mark.parametrize(
    ("taken", "count", "busy", "found"),
    [
        ([], 3, {}, 20000),
        ([(20000, 10)], 10, {}, 20010),
        ([(20005, 10)], 5, {}, 20000),
        ([(20005, 10)], 6, {}, 20015),
        ([(20100, 1), (20002, 50)], 3, {20052}, 20053),
        ([(0, 65536)], 1, {}, None),
        ([], 45537, {}, None),
    ],
)
def test_ranges_do_not_meet(taken: list[tuple[int, int]], count: int, busy: set[int], found: int | None) -> None:
    """The lowest range that is outside of all others and free of listeners."""
    assert free_range(taken, count, 20000, lambda port: port not in busy) == found


def test_two_at_once_never_get_the_same_port(tmp_path: Path) -> None:
    """Eight threads over two connections lease at the same moment; no port is given twice, and a removed member's
    ports are free again.

    Red when leases are read outside the transaction that writes them.
    """
    store, other = Store(tmp_path / "s"), Store(tmp_path / "s")
    members = [_member(tmp_path, number) for number in range(8)]
    group = Group("g", "fan/g", tmp_path, "main", "0" * 40, "x", 0.0, 1, 0.0)
    store.add_group(group, members, [])
    gate = threading.Barrier(8)

    def lease(number: int) -> int | None:
        gate.wait()
        return (store, other)[number % 2].lease(members[number].id, 4, 20000, lambda _port: True)

    with ThreadPoolExecutor(8) as pool:
        firsts = list(pool.map(lease, range(8)))
    assert sorted(first or 0 for first in firsts) == [20000 + 4 * number for number in range(8)]
    assert store.lease(members[0].id, 4, 20000, lambda _port: True) == firsts[0]
    lowest = firsts.index(20000)
    store.update_member(members[lowest].id, removed_at=1.0)
    assert other.lease("later", 4, 20000, lambda _port: True) == 20000
    for one in (store, other):
        one.close()


def test_a_port_that_is_listened_on_is_not_free() -> None:
    """On all addresses or on one; a port nobody holds is free."""
    for address in ("127.0.0.1", ""):
        with socket.socket() as busy:
            busy.bind((address, 0))
            busy.listen()
            port = busy.getsockname()[1]
            assert not ports.is_free(port)
        assert ports.is_free(port)


def _member(folder: Path, number: int) -> Member:
    return Member(
        f"m{number}", "g", number, f"b{number}", folder / str(number), f"s{number}", "demo", "", "0", Step.READY
    )
