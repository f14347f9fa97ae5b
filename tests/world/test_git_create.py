"""Making a worktree: whole or not at all, and nothing of the person's touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fan.errors import AlreadyExists, Busy, Conflict, Dirty, DiskFailed, GitFailed
from fan.world.git import Repository, create, listing, run
from tests.support.repos import RepoBuilder, snapshot
from tests.support.wait import eventually


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


def make(lab: RepoBuilder, repo: Repository, n: int) -> None:
    repo.create(lab.place(f"w-{n}"), f"fan/w-{n}", repo.head().oid, many=True)


def assert_nothing_left(lab: RepoBuilder, repo: Repository) -> None:
    assert not lab.place("one").exists()
    assert "fan/one" not in repo.branches()
    assert [tree.path for tree in repo.worktrees()] == [repo.root]


@pytest.mark.field("B003")
def test_a_worktree_stands_on_the_commit_it_was_given(lab: RepoBuilder) -> None:
    """HEAD is the person's commit on a branch of its own, clean, without upstream; phases come in order."""
    top = lab.repo()
    lab.git(top, "switch", "--quiet", "-c", "feature")
    oid = lab.commit(top, {"new.py": "x = 1\n"})
    repo = lab.open(top)
    phases: list[str] = []
    made = repo.create(lab.place("one"), "fan/one", repo.head().oid, on_phase=phases.append)
    assert (made.path, made.branch, made.oid, made.warnings) == (lab.place("one"), "fan/one", oid, ())
    assert phases == ["worktree", "files", "hook"]
    assert lab.git(lab.place("one"), "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [oid, "fan/one"]
    assert lab.git(lab.place("one"), "status", "--porcelain=v2", "--ignored") == ""
    assert (lab.place("one") / "new.py").read_text() == "x = 1\n"


@pytest.mark.field("B005")
def test_the_persons_checkout_is_not_touched(lab: RepoBuilder) -> None:
    """Config, HEAD, index, stash, logs and files of the main checkout are the same bytes afterwards."""
    top = lab.repo()
    lab.commit(top, {".env": "secret\n"})
    lab.write(top, {"README.md": "stashed\n"})
    lab.git(top, "stash", "--quiet")
    lab.write(top, {"README.md": "edited\n", "untracked.txt": "u\n"})
    lab.git(top, "add", "README.md")
    kept = ("config", "HEAD", "index", "logs/HEAD", "refs/stash", "logs/refs/stash", "refs/heads/main")
    before = {name: (top / ".git" / name).read_bytes() for name in kept}
    files, status = snapshot(top / "src"), lab.git(top, "status", "--porcelain=v2")
    repo = lab.open(top)
    make(lab, repo, 1)
    assert {name: (top / ".git" / name).read_bytes() for name in kept} == before
    assert (snapshot(top / "src"), lab.git(top, "status", "--porcelain=v2")) == (files, status)


def test_what_does_not_travel_is_counted_and_named(lab: RepoBuilder) -> None:
    """Changed, untracked and ignored are told apart; folders count once."""
    top = lab.repo(files={".gitignore": ".env\nnode_modules/\n", "a.txt": "a\n"})
    lab.write(top, {"a.txt": "b\n", "notes/x.md": "x", "notes/y.md": "y", ".env": "s", "node_modules/p/i.js": ""})
    travel = lab.open(top).travel()
    assert (travel.changed, travel.untracked, travel.ignored, travel.complete) == (1, 1, 2, True)
    assert travel.untracked_names == ("notes/",)
    assert set(travel.ignored_names) == {".env", "node_modules/"}
    assert lab.open(lab.hub(source=top)).travel().changed == 0


def test_a_place_that_is_slow_to_read_does_not_hold_up_the_start(
    lab: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When git takes longer than the limit, the count is said to be incomplete instead of zero."""
    monkeypatch.setattr(listing, "TRAVEL_LIMIT", 0.5)
    top = lab.repo(files={".gitattributes": "*.bin filter=slow\n", "a.bin": "a\n"})
    lab.git(top, "config", "filter.slow.clean", "sleep 300")
    lab.write(top, {"a.bin": "b\n"})
    assert not lab.open(top).travel().complete


@pytest.mark.field("B007")
@pytest.mark.parametrize(("there", "wanted"), [("fan", "fan/one"), ("fan/one/old", "fan/one")])
def test_a_branch_that_cannot_exist_beside_another_names_it(lab: RepoBuilder, there: str, wanted: str) -> None:
    """The branch in the way is named, and nothing is left."""
    top = lab.repo()
    lab.git(top, "branch", there)
    repo = lab.open(top)
    with pytest.raises(Conflict, match=f"'{there}'") as refused:
        repo.create(lab.place("one"), wanted, repo.head().oid)
    assert refused.value.not_done == create.NOTHING_LEFT
    assert_nothing_left(lab, repo)


def test_what_is_there_already_is_left_alone(lab: RepoBuilder) -> None:
    """A branch or a folder of that name is refused and survives, though it is at the very base."""
    top = lab.repo()
    lab.git(top, "branch", "fan/one")
    repo = lab.open(top)
    with pytest.raises(AlreadyExists, match="branch"):
        repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert "fan/one" in repo.branches()
    lab.write(lab.place("two"), {"mine.txt": "m"})
    with pytest.raises(AlreadyExists, match="something at"):
        repo.create(lab.place("two"), "fan/two", repo.head().oid)
    assert (lab.place("two") / "mine.txt").exists()


@pytest.mark.field("B015")
def test_a_required_filter_that_is_missing_leaves_nothing(lab: RepoBuilder) -> None:
    """Filter and file are named in git's words; no worktree holds pointers instead of contents."""
    top = lab.repo(files={".gitattributes": "*.bin filter=big\n", "a.bin": "a\n", "b.txt": "b\n"})
    lab.git(top, "config", "filter.big.smudge", "no-such-program")
    lab.git(top, "config", "filter.big.clean", "cat")
    lab.git(top, "config", "filter.big.required", "true")
    repo = lab.open(top)
    with pytest.raises(GitFailed, match=r"a\.bin") as refused:
        repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert "big" in refused.value.message
    assert_nothing_left(lab, repo)


@pytest.mark.field("B015")
def test_a_filter_runs_and_one_that_fails_but_is_not_required_is_a_warning(lab: RepoBuilder) -> None:
    """Contents come through the filter; a filter's failure is never silent."""
    top = lab.repo(files={".gitattributes": "*.up filter=up\n*.bad filter=bad\n", "a.up": "a\n"})
    lab.git(top, "config", "filter.up.smudge", "tr a-z A-Z")
    repo = lab.open(top)
    assert repo.create(lab.place("one"), "fan/one", repo.head().oid).warnings == ()
    assert (lab.place("one") / "a.up").read_text() == "A\n"
    lab.commit(top, {"b.bad": "b\n"})
    lab.git(top, "config", "filter.bad.smudge", "no-such-program")
    warnings = repo.create(lab.place("two"), "fan/two", repo.head().oid).warnings
    assert "no-such-program" in warnings[0]


@pytest.mark.field("B018")
def test_a_failing_hook_is_a_warning_with_its_output(lab: RepoBuilder) -> None:
    """Exit code 3 of post-checkout leaves a whole worktree; the hook got the arguments git gives it."""
    top = lab.repo()
    lab.hook(top, 'echo "args $1 $2 $3 in $(pwd)"; echo broken >&2; exit 3')
    repo = lab.open(top)
    made = repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert len(made.warnings) == 1
    assert "exit code 3" in made.warnings[0]
    assert f"args {'0' * 40} {made.oid} 1 in {lab.place('one')}" in made.warnings[0]
    assert "broken" in made.warnings[0]
    assert lab.git(lab.place("one"), "status", "--porcelain") == ""


def test_a_hook_that_leaves_a_daemon_behind_does_not_hold_us_up(lab: RepoBuilder) -> None:
    """The hook's child keeps the output open for a minute; creation returns when the hook does."""
    top = lab.repo()
    lab.hook(top, f'sleep 60 & echo $! > "{lab.home}/pid"; echo started')
    repo = lab.open(top)
    done = threading.Event()

    def go() -> None:
        make(lab, repo, 1)
        done.set()

    threading.Thread(target=go, daemon=True).start()
    try:
        assert done.wait(20)
    finally:
        os.kill(int((lab.home / "pid").read_text()), signal.SIGKILL)


@pytest.mark.field("B018")
def test_a_checkout_that_is_broken_off_is_not_taken_for_good(lab: RepoBuilder) -> None:
    """git killed in the middle of the files is an error, and the half-made worktree goes."""
    top = lab.repo(files={".gitattributes": "*.bin filter=die\n", **{f"{n}.bin": "x\n" for n in range(9)}})
    lab.git(top, "config", "filter.die.smudge", "kill -9 $PPID; cat")
    repo = lab.open(top)
    with pytest.raises(GitFailed):
        repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert_nothing_left(lab, repo)


def test_a_file_that_cannot_be_written_leaves_nothing(lab: RepoBuilder) -> None:
    """A limit on file size stands for a full disk: git's failure is ours, and nothing half-made stays."""
    top = lab.repo(files={"small.txt": "s\n", "big.bin": "x" * 300_000})
    script = (
        "import resource, sys; from pathlib import Path; from fan.world.git import Git; import os\n"
        "repo = Git(dict(os.environ)).repository(Path(sys.argv[1])); oid = repo.head().oid\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "repo.create(Path(sys.argv[2]), 'fan/one', oid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(top), str(lab.place("one"))],
        env=lab.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "GitFailed" in done.stderr
    assert_nothing_left(lab, lab.open(top))


@pytest.mark.field("B001")
def test_a_place_that_cannot_be_written_leaves_nothing(lab: RepoBuilder) -> None:
    """A parent that is a file, or a folder without write permission, is `disk_failed` or git's refusal."""
    repo = lab.open(lab.repo())
    (lab.home / "file").write_text("")
    with pytest.raises(DiskFailed, match="cannot make the folder"):
        repo.create(lab.home / "file" / "one", "fan/one", repo.head().oid)
    assert_nothing_left(lab, repo)
    if os.geteuid() == 0:
        return  # root writes anywhere
    lab.place("one").parent.mkdir(mode=0o500)
    with pytest.raises(GitFailed, match="Permission denied"):
        repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert_nothing_left(lab, repo)


@pytest.mark.field("B020")
def test_a_relative_hooks_path_runs_the_worktrees_own_hooks(lab: RepoBuilder) -> None:
    """With `core.hooksPath` relative, creation and commits in the worktree use its files; config is as before."""
    top = lab.repo()
    lab.write(top, {".husky/post-checkout": '#!/bin/sh\npwd >> "$HOME/log"\n'})
    lab.write(top, {".husky/pre-commit": '#!/bin/sh\necho commit in $(pwd) >> "$HOME/log"\n'})
    for hook in (top / ".husky").iterdir():
        hook.chmod(0o755)
    lab.git(top, "add", ".husky")
    lab.git(top, "commit", "--quiet", "-m", "hooks")
    lab.git(top, "config", "core.hooksPath", ".husky")
    config = (top / ".git/config").read_bytes()
    repo = lab.open(top)
    make(lab, repo, 1)
    lab.commit(lab.place("w-1"), {"x": "x"})
    assert (lab.home / "log").read_text().splitlines() == [str(lab.place("w-1")), f"commit in {lab.place('w-1')}"]
    assert (top / ".git/config").read_bytes() == config


@pytest.mark.field("B064")
def test_eight_at_once_in_one_process(lab: RepoBuilder) -> None:
    """Eight threads with tracking set to always make eight clean worktrees; config keeps its bytes."""
    top = lab.repo("seed")
    clone = lab.home / "clone"
    lab.git(lab.home, "clone", "--quiet", str(top), str(clone))
    lab.git(clone, "config", "branch.autoSetupMerge", "always")
    lab.git(clone, "config", "branch.autoSetupRebase", "always")
    config = (clone / ".git/config").read_bytes()
    repo = lab.open(clone)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: make(lab, repo, n), range(8)))
    assert set(repo.branches()) == {"main", *(f"fan/w-{n}" for n in range(8))}
    assert len(repo.worktrees()) == 9
    for n in range(8):
        assert lab.git(lab.place(f"w-{n}"), "status", "--porcelain") == ""
    assert (clone / ".git/config").read_bytes() == config


@pytest.mark.field("B064")
def test_two_processes_at_once(lab: RepoBuilder) -> None:
    """Two processes of four threads each share the repository's lock and lose nothing."""
    top = lab.repo()
    script = (
        "import os, sys; from concurrent.futures import ThreadPoolExecutor; from pathlib import Path\n"
        "from fan.world.git import Git\n"
        "top, home, start = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])\n"
        "repo = Git(dict(os.environ)).repository(top); oid = repo.head().oid\n"
        "go = lambda n: repo.create(home / f'w-{n}', f'fan/w-{n}', oid, many=True)\n"
        "with ThreadPoolExecutor(4) as pool: list(pool.map(go, range(start, start + 4)))\n"
    )
    environ = lab.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    home = str(lab.place("w").parent)
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(top), home, start], env=environ) for start in ("0", "4")
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    repo = lab.open(top)
    assert len(repo.worktrees()) == 9
    assert all(lab.git(lab.place(f"w-{n}"), "status", "--porcelain") == "" for n in range(8))
    lab.git(top, "fsck", "--strict")


@pytest.mark.field("B064")
def test_hooks_that_fight_over_the_config_all_succeed(lab: RepoBuilder) -> None:
    """A hook that lost the config's lock runs once more, alone; fails if the second run is taken out."""
    top = lab.repo()
    lock = top / ".git/config.lock"
    lab.hook(
        top,
        f'if mkdir "$HOME/held" 2>/dev/null; then touch "{lock}"; git config hook.one x; code=$?; rm "{lock}"; '
        "exit $code; fi\ngit config hook.two x",
    )
    repo = lab.open(top)
    assert repo.create(lab.place("one"), "fan/one", repo.head().oid).warnings == ()
    assert (lab.home / "held").exists()
    assert lab.git(top, "config", "hook.two") == "x"


@pytest.mark.field("B064")
def test_a_lock_of_git_that_goes_away_is_waited_for(lab: RepoBuilder) -> None:
    """Taking a branch back waits for packed-refs.lock; fails if the retry is taken out."""
    top = lab.repo()
    repo = lab.open(top)
    make(lab, repo, 1)
    lab.git(top, "pack-refs", "--all")
    lock = top / ".git/packed-refs.lock"
    lock.touch()
    timer = threading.Timer(2.0, lock.unlink)
    timer.start()
    repo.undo_create(lab.place("w-1"), "fan/w-1", repo.head().oid)
    timer.join()
    assert set(repo.branches()) == {"main"}


@pytest.mark.field("B064")
def test_a_lock_of_git_that_stays_is_named(lab: RepoBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the patience the lock's file is in the message, and how to get rid of it."""
    monkeypatch.setattr(run, "LOCK_PATIENCE", 0.3)
    top = lab.repo()
    repo = lab.open(top)
    make(lab, repo, 1)
    lab.git(top, "pack-refs", "--all")
    lock = top / ".git/packed-refs.lock"
    lock.touch()
    with pytest.raises(Busy, match=r"packed-refs\.lock") as refused:
        repo.undo_create(lab.place("w-1"), "fan/w-1", repo.head().oid)
    assert str(lock) in refused.value.hint


def test_our_own_lock_held_by_another_is_named(lab: RepoBuilder) -> None:
    """A second fan waits a bounded time for the repository's lock, in the same process and in another."""
    top = lab.repo()
    repo = lab.open(top)
    with repo.lock(), pytest.raises(Busy, match=r"fan\.lock"), repo.lock(patience=0.05):
        pass
    script = (
        "import sys; from pathlib import Path; from fan.world.locks import held\n"
        "with held(Path(sys.argv[1], 'fan.lock')): print('held', flush=True); sys.stdin.read()\n"
    )
    environ = lab.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(top / ".git")],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Busy, match=r"fan\.lock"), repo.lock(patience=0.05):
            pass
        other.kill()
    with repo.lock(patience=5):
        pass


def test_a_sparse_checkout_is_inherited(lab: RepoBuilder) -> None:
    """From a sparse place the new worktree holds the same part of the tree, and is clean."""
    top = lab.repo(files={"in/a": "a\n", "out/b": "b\n", "c": "c\n"})
    lab.git(top, "sparse-checkout", "set", "in")
    repo = lab.open(top)
    make(lab, repo, 1)
    made = lab.place("w-1")
    assert (made / "in/a").exists()
    assert (made / "c").exists()
    assert not (made / "out").exists()
    assert lab.git(made, "status", "--porcelain") == ""


def test_submodules_are_announced(lab: RepoBuilder) -> None:
    """A worktree starts with its submodules empty, and a warning says how many and what to run."""
    top = lab.repo()
    lab.submodule(top)
    repo = lab.open(top)
    made = repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert "1 submodule is not initialised" in made.warnings[0]
    assert "git submodule update --init" in made.warnings[0]


def test_a_large_tree_is_filled_by_several_workers(lab: RepoBuilder) -> None:
    """More than a thousand files come out whole whether alone or among others."""
    top = lab.repo(files={f"d{n % 20}/f{n}": f"{n}\n" for n in range(1100)})
    repo = lab.open(top)
    for n, many in enumerate((False, True)):
        repo.create(lab.place(f"w-{n}"), f"fan/w-{n}", repo.head().oid, many=many)
        assert lab.git(lab.place(f"w-{n}"), "status", "--porcelain") == ""


def test_undo_takes_back_what_was_made_and_no_more(lab: RepoBuilder) -> None:
    """Folder, entry and branch go, the other worktree stays; the same call again does nothing."""
    top = lab.repo()
    repo = lab.open(top)
    make(lab, repo, 1)
    make(lab, repo, 2)
    for _ in range(2):
        repo.undo_create(lab.place("w-1"), "fan/w-1", repo.head().oid)
        assert set(repo.branches()) == {"main", "fan/w-2"}
        assert [tree.path for tree in repo.worktrees()] == [top, lab.place("w-2")]
        assert not lab.place("w-1").exists()


@pytest.mark.parametrize("how", ["commit", "switch", "detach"])
def test_undo_refuses_when_somebody_has_worked_there(lab: RepoBuilder, how: str) -> None:
    """A commit or a switch in the worktree makes it more than half-made: nothing is removed."""
    repo = lab.open(lab.repo())
    make(lab, repo, 1)
    made = lab.place("w-1")
    work: dict[str, Callable[[], object]] = {
        "commit": lambda: lab.commit(made, {"x": "x"}),
        "switch": lambda: lab.git(made, "switch", "--quiet", "-c", "other"),
        "detach": lambda: lab.git(made, "switch", "--quiet", "--detach"),
    }
    work[how]()
    with pytest.raises(Dirty):
        repo.undo_create(made, "fan/w-1", repo.head().oid)
    assert made.exists()
    assert "fan/w-1" in repo.branches()


def test_undo_clears_an_entry_that_git_was_killed_in(lab: RepoBuilder) -> None:
    """An entry that `git worktree add` had still locked as initializing is taken back with its branch."""
    top = lab.repo()
    repo = lab.open(top)
    make(lab, repo, 1)
    (top / ".git/worktrees/w-1/locked").write_text("initializing\n")
    (top / ".git/worktrees/w-1/HEAD").write_text("0" * 40 + "\n")
    repo.undo_create(lab.place("w-1"), "fan/w-1", repo.head().oid)
    assert set(repo.branches()) == {"main"}
    assert not (top / ".git/worktrees/w-1").exists()


def test_undo_is_not_led_astray_by_a_link_to_it(lab: RepoBuilder) -> None:
    """A neighbour whose folder was replaced by a link to this one keeps its entry and its branch."""
    repo = lab.open(lab.repo())
    make(lab, repo, 1)
    make(lab, repo, 2)
    lab.place("w-1").rename(lab.home / "away")
    lab.place("w-1").symlink_to(lab.place("w-2"))
    repo.undo_create(lab.place("w-2"), "fan/w-2", repo.head().oid)
    assert set(repo.branches()) == {"main", "fan/w-1"}
    assert (repo.common_dir / "worktrees/w-1").exists()


def test_what_cannot_be_taken_back_is_said_beside_the_first_error(lab: RepoBuilder) -> None:
    """A failed fill whose clean-up fails too keeps its own message and tells of the second."""
    top = lab.repo(files={".gitattributes": "*.bin filter=big\n", "a.bin": "a\n"})
    lab.git(top, "config", "filter.big.smudge", "git symbolic-ref HEAD refs/heads/other; false")
    lab.git(top, "config", "filter.big.required", "true")
    repo = lab.open(top)
    with pytest.raises(GitFailed, match=r"a\.bin") as refused:
        repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert "could not be taken back" in refused.value.not_done
    assert "moved on" in refused.value.not_done


def test_ctrl_c_in_the_middle_takes_the_worktree_back(lab: RepoBuilder) -> None:
    """An interrupt between the steps leaves nothing of this worktree."""
    repo = lab.open(lab.repo())

    def interrupt(phase: str) -> None:
        if phase == "files":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repo.create(lab.place("one"), "fan/one", repo.head().oid, on_phase=interrupt)
    assert_nothing_left(lab, repo)


def test_a_git_that_takes_too_long_is_ended_with_its_children(lab: RepoBuilder) -> None:
    """A time limit ends the filter below git too, and says which command it was."""
    top = lab.repo(files={".gitattributes": "*.bin filter=slow\n", "a.bin": "a\n"})
    lab.git(top, "config", "filter.slow.smudge", f'echo $$ > "{lab.home}/pid"; exec sleep 300')
    (top / "a.bin").unlink()
    repo = lab.open(top)
    with pytest.raises(GitFailed, match=r"checkout did not finish in 1 seconds"):
        repo.here.run("checkout", "--", "a.bin", limit=1)
    filter_pid = int((lab.home / "pid").read_text())
    eventually(lambda: not _runs(filter_pid))


def _runs(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] not in ("", "Z")
