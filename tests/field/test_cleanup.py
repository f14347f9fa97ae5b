"""Field cases: what keep and rm take away, and what they never touch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.members import error, listed, recipe, sessions, start
from tests.support.puppets import Puppets
from tests.support.repos import snapshot
from tests.support.tmux import alive
from tests.support.wait import eventually, window

WRITER = """
import itertools, pathlib, sys
for n in itertools.count():
    try:
        pathlib.Path(sys.argv[1], f"{n}.txt").write_text("kept")
    except OSError:
        break
    print(n, flush=True)
"""
SERVER = """
import pathlib, socket, sys, time
log = pathlib.Path.cwd() / "server.log"
held = socket.create_server(("127.0.0.1", 0))
pathlib.Path(sys.argv[1]).write_text(f"{__import__('os').getpid()} {held.getsockname()[1]}")
while True:
    try:
        with log.open("a") as file:
            file.write("alive\\n")
    except OSError:
        pass
    time.sleep(0.1)
"""


@pytest.mark.field("B044")
def test_b044_commits_of_a_loser_are_named_and_kept(fan: Fan, puppets: Puppets) -> None:
    """A loser's two commits are named with count and last one, and its branch stays where it was."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet", "Do it")
    loser = Path(rows[1]["path"])
    fan.repos.commit(loser, {"one.txt": "1\n"}, "One")
    last = fan.repos.commit(loser, {"two.txt": "2\n"}, "Two")
    kept = fan.run("keep", rows[0]["id"], cwd=repo)
    assert kept.code == 0, kept.err
    assert f"2 commits ({last[:10]} Two): kept in the archive" in kept.err
    assert f"its branch stays, at {last[:10]}" in kept.err
    assert fan.repos.git(repo, "rev-parse", rows[1]["branch"]) == last


@pytest.mark.field("B044")
def test_b044_a_squash_merged_loser_goes_and_discard_names_the_commit(fan: Fan, puppets: Puppets) -> None:
    """After a squash merge a member can be removed like any other; with `--discard` its commit id is printed too."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    ids = [fan.repos.commit(Path(row["path"]), {f"{row['id']}.txt": "1\n"}) for row in rows]
    fan.repos.git(repo, "merge", "--quiet", "--squash", rows[0]["branch"])
    fan.repos.git(repo, "commit", "--quiet", "-m", "Squashed")
    assert fan.run("rm", rows[0]["id"], cwd=repo).code == 0
    discarded = fan.run("rm", "--discard", rows[1]["id"], cwd=repo)
    assert discarded.code == 0, discarded.err
    assert ids[1][:10] in discarded.err
    assert [fan.repos.git(repo, "rev-parse", row["branch"]) for row in rows] == ids


@pytest.mark.field("B045")
def test_b045_untracked_and_staged_files_are_work(fan: Fan, puppets: Puppets) -> None:
    """A loser without commits but with three new files and a staged one: all are named and come back with undo."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    loser = Path(rows[1]["path"])
    fan.repos.write(loser, {"a.txt": "a\n", "b.txt": "b\n", "sub/c.txt": "c\n", "staged.txt": "s\n"})
    fan.repos.git(loser, "add", "staged.txt")
    before, status = snapshot(loser), fan.repos.git(loser, "status", "--porcelain", "-uall")
    kept = fan.run("keep", rows[0]["id"], cwd=repo)
    assert "1 staged file (staged.txt)" in kept.err
    assert "3 untracked files (a.txt, b.txt, sub/c.txt)" in kept.err
    assert not loser.exists()
    assert fan.run("undo", cwd=repo).code == 0
    assert snapshot(loser) == before
    assert fan.repos.git(loser, "status", "--porcelain", "-uall") == status


@pytest.mark.field("B045")
def test_b045_what_is_written_during_the_removal_is_not_lost(fan: Fan, puppets: Puppets) -> None:
    """While a program goes on writing in the loser's folder, every file it got written is there after undo, or the
    loser was left alone."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    loser = Path(rows[1]["path"])
    command = [sys.executable, "-c", WRITER, str(loser)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as writer:
        eventually((loser / "5.txt").exists)
        kept = fan.run("keep", rows[0]["id"], "--json", cwd=repo)
        writer.terminate()
        written = writer.communicate(timeout=10)[0].split()
    if kept.json["removed"]:
        assert fan.run("undo", cwd=repo).code == 0
    else:
        assert (kept.code, len(kept.json["left"])) == (5, 1)
    assert [(loser / f"{n}.txt").read_text() for n in written] == ["kept"] * len(written)


@pytest.mark.field("B046")
def test_b046_ignored_files_are_named_and_kept(fan: Fan, puppets: Puppets) -> None:
    """An ignored report and a changed ignored `.env` of a loser are named, and undo brings both back with their
    dependency folder."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": "out/\n.env\nnode_modules/\n"})
    rows = start(fan, repo, 2, "puppet", "Do it")
    loser = Path(rows[1]["path"])
    fan.repos.write(loser, {"out/report.md": "fine\n", ".env": "KEY=2\n", "node_modules/a/b.js": "1\n"})
    before = snapshot(loser)
    kept = fan.run("keep", rows[0]["id"], cwd=repo)
    assert kept.code == 0, kept.err
    assert "out/" in kept.err
    assert ".env" in kept.err
    assert fan.run("undo", cwd=repo).code == 0
    assert snapshot(loser) == before


@pytest.mark.field("B048")
def test_b048_main_and_hand_made_worktrees_are_no_candidates(fan: Fan, puppets: Puppets) -> None:
    """No name, the main checkout's folder and branch, and a hand-made worktree with our prefix are refused by every
    removing verb, and nothing of them changes."""
    repo, hand = fan.repos.repo("fix-thing"), fan.repos.home / "hand"
    fan.repos.git(repo, "checkout", "--quiet", "-b", "mine")
    fan.repos.git(repo, "worktree", "add", "--quiet", "-b", "fan/hand", str(hand))
    start(fan, repo, 2, "puppet", "Fix thing")
    before = [snapshot(place) for place in (repo / "src", hand)]
    assert fan.run("keep", cwd=repo).code == 2
    tried = [
        (verb, name) for verb in ("keep", "rm") for name in ("mine", "fan/hand", str(repo), str(hand), "fix-thing")
    ]
    tried += [(verb, "fan/hand") for verb in ("rm --discard", "worktree rm", "group rm")]
    for verb, name in tried:
        done = fan.run(*verb.split(), "--json", name, cwd=repo)
        assert (done.code, error(done.out)["code"]) == (1, "not_found"), (verb, name)
    assert len(listed(fan, repo)) == 2
    assert [snapshot(place) for place in (repo / "src", hand)] == before


@pytest.mark.field("B049")
def test_b049_from_inside_a_losers_folder(fan: Fan, puppets: Puppets) -> None:
    """From a shell in a loser's folder, keep removes it and says that the shell's folder is gone; what is called from
    there afterwards still answers."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    called = " ".join(PROGRAM)
    script = f"echo $$; {called} keep {rows[0]['id']}; echo code $?; {called} ls; echo code $?"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=Path(rows[1]["path"]) / "src",
        env=fan.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"({done.stdout.split()[0]})" in done.stderr
    assert "that folder is now gone" in done.stderr
    assert done.stdout.count("code 0") == 2
    assert rows[0]["session"] in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.field("B051")
def test_b051_programs_of_a_loser_do_not_go_on(fan: Fan, puppets: Puppets) -> None:
    """A server below the loser's agent, in a session of its own, is stopped; one that has no parent any more is
    named with its id; the folder does not come back; the winner's and a stranger's go on."""
    repo = fan.repos.repo()
    server, bin_folder = fan.folder / "server.py", fan.folder / "bin"
    server.write_text(SERVER)
    bin_folder.mkdir()
    begin = f'setsid {sys.executable} {server} "{fan.folder}/$FAN_MEMBER'
    script = f'#!/bin/sh\n{begin}.child" &\n({begin}.orphan" &)\nexec puppet.py "$@"\n'
    (bin_folder / "serving").write_text(script)
    (bin_folder / "serving").chmod(0o755)
    fan.env["PATH"] = f"{bin_folder}:{fan.env['PATH']}"
    recipe(puppets, "serving", ('["puppet.py"]\ndrop', '["serving"]\ndrop'))
    with subprocess.Popen(["sleep", "60"], cwd=repo) as stranger:
        rows = start(fan, repo, 2, "serving", "Do it")
        child, orphan, *winners = (_pid(fan, row["id"], kind) for row in rows[::-1] for kind in KINDS)
        try:
            kept = fan.run("keep", rows[0]["id"], cwd=repo)
            assert kept.code == 0, kept.err
            assert not alive(child)
            assert f"({orphan})" in kept.err
            window(1)
            assert not Path(rows[1]["path"]).exists()
            assert all(alive(pid) for pid in (orphan, *winners, stranger.pid))
        finally:
            for pid in (orphan, *winners):
                psutil.Process(pid).kill()
            stranger.kill()


KINDS = ("child", "orphan")


def _pid(fan: Fan, member: str, kind: str) -> int:
    file = fan.folder / f"{member}.{kind}"
    eventually(lambda: file.exists() and file.read_text(), within=15)
    return int(file.read_text().split()[0])


@pytest.mark.field("B053")
def test_b053_links_go_and_what_they_point_to_stays(fan: Fan, puppets: Puppets) -> None:
    """A loser's link to the main checkout's dependency folder goes alone, and does not count as work."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": "node_modules/\n"})
    fan.repos.write(repo, {"node_modules/a/b.js": "1\n"})
    before = snapshot(repo / "node_modules")
    rows = start(fan, repo, 2, "puppet", "Do it")
    link = Path(rows[1]["path"]) / "node_modules"
    link.symlink_to(repo / "node_modules")
    kept = fan.run("keep", rows[0]["id"], cwd=repo)
    assert kept.code == 0, kept.err
    assert "node_modules" not in kept.err
    assert snapshot(repo / "node_modules") == before
    assert fan.run("undo", cwd=repo).code == 0
    assert link.readlink() == repo / "node_modules"


@pytest.mark.field("B053")
def test_b053_a_folder_replaced_by_a_link_is_refused(fan: Fan, puppets: Puppets) -> None:
    """A loser's folder that has become a link to the winner's is not removed, and the winner is whole."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    winner, loser = (Path(row["path"]) for row in rows)
    loser.rename(fan.folder / "aside")
    loser.symlink_to(winner)
    before = snapshot(winner)
    done = fan.run("keep", rows[0]["id"], "--json", cwd=repo)
    assert (done.code, done.json["removed"], len(done.json["left"])) == (5, [], 1)
    assert str(loser) in done.json["left"][0]["reason"]
    assert snapshot(winner) == before
    assert loser.readlink() == winner
    assert rows[0]["session"] in sessions(fan)
