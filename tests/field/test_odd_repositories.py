"""Shapes of repositories, hooks and disks: each works, or is refused in one sentence with nothing left behind."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import subprocess
import termios
from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.disk import small_disk
from tests.support.members import cycle, error, sessions, start, traces
from tests.support.puppets import Puppets
from tests.support.repos import snapshot

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away and mount disks")


def _refused(fan: Fan, where: Path, count: int = 2) -> dict[str, str]:
    """The error of a start that must be refused in one sentence."""
    done = fan.run(str(count), "--agent", "puppet", "--json", "Do it", cwd=where)
    assert done.code == 1, done.out
    told = error(done.out)
    assert "\n" not in told["message"].strip()
    return told


def test_from_a_subfolder_the_whole_repository_is_meant(fan: Fan, puppets: Puppets) -> None:
    """From deep inside, worktrees are of the whole repository and every verb finds them."""
    repo = fan.repos.repo()
    rows = cycle(fan, puppets, repo / "src")
    assert {row["repo"] for row in rows} == {str(repo)}
    assert (Path(rows[0]["path"]) / "README.md").exists()


def test_on_a_detached_head_its_commit_is_the_base(fan: Fan, puppets: Puppets) -> None:
    """The base is shown as the commit; the person stays detached where they were."""
    repo = fan.repos.repo()
    first = fan.repos.git(repo, "rev-parse", "HEAD")
    fan.repos.commit(repo, {"later.txt": "1\n"})
    fan.repos.git(repo, "checkout", "--quiet", "--detach", first)
    rows = cycle(fan, puppets, repo)
    assert {row["base"] for row in rows} == {first[:10]}
    assert fan.repos.git(rows[0]["path"], "rev-parse", "HEAD") == first
    assert fan.repos.git(repo, "status", "--branch", "--porcelain=v2").splitlines()[1] == "# branch.head (detached)"


def test_submodules_are_told_and_no_obstacle(fan: Fan, puppets: Puppets) -> None:
    """Each new worktree says that its submodule is not initialised and how; starting and keeping work."""
    repo = fan.repos.repo()
    fan.repos.submodule(repo)
    config = (repo / ".git" / "config").read_bytes()
    done = fan.run("2", "--agent", "puppet", "--json", "Do it", cwd=repo)
    assert done.code == 0, done.err
    assert done.err.count("git submodule update --init") == 2
    kept = fan.run("keep", done.json["members"][0]["id"], "--json", cwd=repo)
    assert (kept.code, len(kept.json["removed"])) == (0, 1), kept.out
    assert (repo / ".git" / "config").read_bytes() == config


def test_a_sparse_checkout_stays_sparse(fan: Fan, puppets: Puppets) -> None:
    """The new worktrees have what the person's sparse checkout has; its settings stay the same to the byte."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {"web/a.js": "1\n", "docs/b.md": "1\n"})
    fan.repos.git(repo, "sparse-checkout", "set", "web")
    before = {name: (repo / ".git" / name).read_bytes() for name in ("config", "config.worktree")}
    rows = cycle(fan, puppets, repo)
    assert (Path(rows[0]["path"]) / "web" / "a.js").exists()
    assert not (Path(rows[0]["path"]) / "docs").exists()
    assert fan.repos.git(rows[0]["path"], "status", "--porcelain") == ""
    assert {name: (repo / ".git" / name).read_bytes() for name in before} == before


@root_only
def test_a_repository_of_another_owner(fan: Fan, puppets: Puppets) -> None:
    """git's distrust is passed on in one sentence with the line that ends it; after that line all works."""
    repo = fan.repos.repo()
    before = snapshot(repo)
    for one in (repo, *repo.rglob("*")):
        os.lchown(one, 54321, 54321)
    told = _refused(fan, repo)
    assert told["code"] == "not_allowed"
    assert snapshot(repo) == before
    assert not fan.worktrees.exists()
    subprocess.run(told["hint"], shell=True, env=fan.env, check=True)
    cycle(fan, puppets, repo)


def test_a_hook_that_asks_gets_no_answer_and_holds_nobody_up(fan: Fan, puppets: Puppets) -> None:
    """Called at a terminal, a hook that reads it and its input finds neither: it fails, and every agent starts.

    Red when hooks inherit the terminal of whoever called.
    """
    repo = fan.repos.repo()
    fan.repos.hook(repo, "read a; echo input=[$a]; read b </dev/tty && echo tty=$b; exit 4")
    code, told = _at_a_terminal(fan, repo, "2", "--agent", "puppet", "Do it")
    assert code == 0, told
    assert told.count("input=[]") == 2
    assert "tty=yes" not in told
    assert len(sessions(fan)) == 2


def _at_a_terminal(fan: Fan, repo: Path, *words: str) -> tuple[int, str]:
    """The exit code, and what a person sees who runs this in a terminal where `yes` is typed all the time."""
    keyboard, screen = pty.openpty()

    def own_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    told = b""
    with subprocess.Popen(
        [*PROGRAM, *words], cwd=repo, env=fan.env, stdin=screen, stdout=screen, stderr=screen,
        start_new_session=True, preexec_fn=own_terminal,  # noqa: PLW1509 - the child starts no thread
    ) as running:  # fmt: skip
        os.close(screen)
        os.write(keyboard, b"yes\nyes\nyes\n")
        while True:
            try:
                told += os.read(keyboard, 4096)
            except OSError:  # nobody has the terminal open any more
                break
    os.close(keyboard)
    return running.returncode, told.decode()


def test_a_slow_hook_holds_up_only_its_own_member(fan: Fan, puppets: Puppets) -> None:
    """The first agent has its prompt before the second's hook has ended, and the phase is told."""
    repo = fan.repos.repo()
    fan.repos.hook(repo, "case $PWD in *-2) sleep 4;; esac")
    done = fan.run("2", "--agent", "puppet", "--json", "Do it", cwd=repo)
    first, second = done.json["members"]
    assert "fan/do-2: hook" in done.err
    taken = next(one for one in puppets.events(first, "key") if one["key"] == "enter")
    assert taken["at"] < puppets.started(second)["at"]


def test_generated_hooks_come_along_when_the_setup_copies_them(fan: Fan, puppets: Puppets) -> None:
    """Where the hook path is a folder that an installer makes and git ignores, hooks are missing in a worktree unless
    `copy` names it; with it, a commit there runs them. The shared configuration stays the same to the byte."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": ".husky/_\n", ".husky/pre-commit": "pwd > ran\n"})
    fan.repos.write(repo, {".husky/_/pre-commit": "#!/bin/sh\nsh .husky/pre-commit\n"})
    (repo / ".husky" / "_" / "pre-commit").chmod(0o755)
    fan.repos.git(repo, "config", "core.hooksPath", ".husky/_")
    fan.repos.write(repo, {"fan.toml": 'copy = [".husky/_/"]\n'})
    config = (repo / ".git" / "config").read_bytes()
    (without,) = start(fan, repo, 1, "puppet", "--no-setup", "Do it")
    assert fan.run("config", "approve", cwd=repo).code == 0
    (with_them,) = start(fan, repo, 1, "puppet", "Do it")
    for row in (without, with_them):
        fan.repos.commit(Path(row["path"]), {"new.txt": "1\n"})
    assert not (Path(without["path"]) / "ran").exists()
    assert (Path(with_them["path"]) / "ran").read_text().strip() == with_them["path"]
    assert (repo / ".git" / "config").read_bytes() == config


def test_in_a_nested_repository_the_inner_one_is_meant(fan: Fan, puppets: Puppets) -> None:
    """Started in a repository that lies inside another, only the inner one is touched; started in the outer one, the
    inner one does not travel and is named."""
    outer = fan.repos.repo()
    inner = fan.repos.repo("api/vendor/inner")
    before = snapshot(outer / ".git")
    rows = cycle(fan, puppets, inner)
    assert {row["repo"] for row in rows} == {str(inner)}
    assert snapshot(outer / ".git") == before
    done = fan.run("1", "--agent", "puppet", "--json", "Do it", cwd=outer)
    assert done.code == 0, done.err
    assert "1 untracked path is not there: vendor/" in done.err
    assert not (Path(done.json["members"][0]["path"]) / "vendor").exists()


@pytest.mark.parametrize("name", ["-rf", "a\nb", "…", "x" * 120, "a;touch pwned", "$(touch pwned)"])
def test_names_that_break_lines_and_commands(fan: Fan, puppets: Puppets, name: str) -> None:
    """A repository's folder of any name goes through the whole cycle, and nothing of the name is run."""
    repo = fan.repos.repo(name)
    rows = cycle(fan, puppets, repo)
    assert {row["repo"] for row in rows} == {str(repo)}
    assert not list(fan.folder.rglob("pwned"))


@root_only
def test_a_disk_without_room_is_refused_before_anything_is_made(fan: Fan, puppets: Puppets) -> None:
    """Less room than the checkouts need: one sentence with both numbers, and nothing is made."""
    repo = fan.repos.repo()
    before = traces(fan, repo)
    with small_disk(fan.worktrees, "1m"):
        told = _refused(fan, repo)
        assert told["code"] == "disk_failed"
        assert "MB are free" in told["message"]
        assert list(fan.worktrees.iterdir()) == []
    assert traces(fan, repo) == before


@root_only
def test_a_disk_that_fills_up_on_the_way_leaves_nothing_half_made(fan: Fan, puppets: Puppets) -> None:
    """When a checkout grows over what was reckoned with, its member fails in one sentence and is taken back whole.

    Red when a checkout that ended with an error is left, or its branch is.
    """
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitattributes": "*.bin filter=big\n", "one.bin": "1\n"})
    fan.repos.git(repo, "config", "filter.big.smudge", "head -c 3000000 /dev/zero")
    before = traces(fan, repo)
    fan.env["FAN_MIN_FREE_MB"] = "0"
    with small_disk(fan.worktrees, "1m"):
        done = fan.run("1", "--agent", "puppet", "--json", "Do it", cwd=repo)
        assert done.code == 1, done.out
        assert "one.bin" in done.json["members"][0]["prompt_note"]
        assert [one for one in fan.worktrees.rglob("*") if one.is_file()] == []
    assert traces(fan, repo) == before
    assert not sessions(fan)


@root_only
def test_a_setup_on_a_full_disk_fails_its_member_and_says_why(fan: Fan, puppets: Puppets) -> None:
    """A copy that does not fit is told by file and reason; no agent starts, and the member can be removed."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {"fan.toml": 'copy = ["big.dat"]\n', ".gitignore": "big.dat\n"})
    (repo / "big.dat").write_bytes(os.urandom(3_000_000))
    assert fan.run("config", "approve", cwd=repo).code == 0
    fan.env["FAN_MIN_FREE_MB"] = "0"
    with small_disk(fan.worktrees, "1m"):
        done = fan.run("1", "--agent", "puppet", "--json", "Do it", cwd=repo)
        assert done.code == 1, done.out
        note = done.json["members"][0]["prompt_note"]
        assert "big.dat" in note
        assert "No space left" in note
        assert not sessions(fan)
        removed = fan.run("rm", done.json["members"][0]["id"], "--json", cwd=repo)
        assert removed.code == 0, removed.out


@root_only
@pytest.mark.parametrize("which", ["worktrees", "repository"])
def test_a_target_that_cannot_be_written_is_refused(fan: Fan, puppets: Puppets, which: str) -> None:
    """A read-only disk, under the worktrees or under the repository, is one sentence that names the place."""
    repo = fan.repos.repo()
    if which == "worktrees":
        with small_disk(fan.worktrees, "1m", "ro"):
            told = _refused(fan, repo)
        assert str(fan.worktrees) in told["message"]
    else:
        moved = fan.repos.home / "moved"
        repo.rename(moved)
        with small_disk(repo, "8m"):
            shutil.copytree(moved, repo, dirs_exist_ok=True)
            subprocess.run(["mount", "-o", "remount,ro", str(repo)], check=True)
            told = _refused(fan, repo)
        assert str(repo) in told["message"]
        repo = moved
    assert told["code"] == "disk_failed"
    assert traces(fan, repo)["folders"] == []
    assert fan.repos.git(repo, "branch", "--format=%(refname:short)") == "main"
