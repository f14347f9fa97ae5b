"""Field cases: many at once, and git's locks and stash."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan, Result
from tests.support.members import listed, start, traces
from tests.support.puppets import Puppets
from tests.support.wait import eventually


@contextmanager
def _running(fan: Fan, cwd: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = [*PROGRAM, *words]
    with subprocess.Popen(command, cwd=cwd, env=fan.env, stdout=pipe, stderr=pipe, text=True) as process:
        yield process


def _together(fan: Fan, cwd: Path, *lines: list[str]) -> list[Result]:
    """Several command lines at the same moment."""
    pipe = subprocess.PIPE
    begun = [
        subprocess.Popen([*PROGRAM, *line], cwd=cwd, env=fan.env, stdout=pipe, stderr=pipe, text=True)
        for line in lines
    ]
    ended = [(process, *process.communicate(timeout=60)) for process in begun]
    return [Result(process.returncode, out, err) for process, out, err in ended]


@pytest.mark.field("B064")
def test_b064_eight_at_once_with_tracking_and_a_hook_that_writes_config(fan: Fan, puppets: Puppets) -> None:
    """With tracking set to always and a post-checkout hook that sets a value, eight are made, each once."""
    repo = fan.repos.repo()
    remote = fan.repos.hub("remote.git", repo)
    fan.repos.git(repo, "remote", "add", "origin", str(remote))
    fan.repos.git(repo, "push", "--quiet", "--set-upstream", "origin", "main")
    fan.repos.git(repo, "config", "branch.autoSetupMerge", "always")
    fan.repos.hook(repo, "git config seen.by $(basename $PWD)")
    rows = start(fan, repo, 8, "puppet", "Do it")
    assert {row["prompt_status"] for row in rows} == {"sent"}
    made = traces(fan, repo)
    assert [len(made[what]) for what in ("branches", "folders", "sessions", "records")] == [9, 8, 8, 8]
    assert "branch.fan" not in (repo / ".git" / "config").read_text()
    for row in rows:
        puppets.takes(row, "Do it")


@pytest.mark.field("B064")
def test_b064_a_config_lock_held_for_a_while_holds_nobody_up(fan: Fan, puppets: Puppets) -> None:
    """While somebody holds the lock of the shared configuration, members are made all the same."""
    repo = fan.repos.repo()
    lock = repo / ".git" / "config.lock"
    lock.touch()
    with _running(fan, repo, "3", "--agent", "puppet", "--detach", "Do it") as making:
        eventually(lambda: len(list(fan.worktrees.glob("*/*"))) > 0, within=10)
        lock.unlink()
        making.communicate(timeout=30)
    assert making.returncode == 0
    assert len(listed(fan, repo)) == 3


@pytest.mark.field("B064")
def test_b064_a_lock_that_stays_is_named(fan: Fan, puppets: Puppets) -> None:
    """A lock that nobody takes away fails the member, with the file's name, and leaves nothing."""
    repo = fan.repos.repo()
    before = traces(fan, repo)
    lock = repo / ".git" / "refs" / "heads" / "topic.lock"
    lock.touch()
    done = fan.run("1", "--agent", "puppet", "--json", "--name", "topic", "Do it", cwd=repo)
    assert done.code == 1
    assert "refs/heads/topic.lock" in done.json["members"][0]["prompt_note"]
    assert lock.exists()
    lock.unlink()
    assert traces(fan, repo) == before


@pytest.mark.field("B065")
def test_b065_two_starts_and_a_keep_in_the_same_moment(fan: Fan, puppets: Puppets) -> None:
    """Twice the same line at once gives two groups and six members, while keep on an older group does all of its
    work; twice the same explicit name gives one group, and a refusal that made nothing.

    Red when the name is not taken in the same transaction that records the group.
    """
    repo = fan.repos.repo()
    older = start(fan, repo, 2, "puppet", "--name", "older", "--detach", "Do it")
    line = ["3", "--agent", "puppet", "--json", "--detach", "Mend it"]
    first, second, kept = _together(fan, repo, line, line, ["keep", older[0]["id"], "--json"])
    assert [done.code for done in (first, second, kept)] == [0, 0, 0], (first, second, kept)
    assert sorted(done.json["group"] for done in (first, second)) == ["fan/mend", "fan/mend-b"]
    assert len(kept.json["removed"]) == 1
    made = traces(fan, repo)
    assert [len(made[what]) for what in ("folders", "sessions", "records")] == [7, 7, 7]
    named = ["3", "--agent", "puppet", "--json", "--detach", "--name", "topic", "Mend it"]
    ended = sorted(_together(fan, repo, named, named), key=lambda done: done.code)
    assert [done.code for done in ended] == [0, 1], ended
    assert ended[1].json["error"]["code"] == "exists"
    made = traces(fan, repo)
    assert [len(made[what]) for what in ("folders", "sessions", "records")] == [10, 10, 10]
    for row in (*first.json["members"], *second.json["members"], *ended[0].json["members"]):
        puppets.takes(row, "Mend it", within=40)


@pytest.mark.field("B067")
def test_b067_the_stash_of_git_is_left_alone_and_named(fan: Fan, puppets: Puppets) -> None:
    """The person's old stash and one that a loser made are both there after a whole cycle; the loser's is named."""
    repo = fan.repos.repo()
    fan.repos.write(repo, {"README.md": "mine\n"})
    fan.repos.git(repo, "stash", "push", "--quiet", "-m", "my old one")
    rows = start(fan, repo, 2, "puppet", "Do it")
    fan.repos.write(Path(rows[1]["path"]), {"README.md": "theirs\n"})
    fan.repos.git(Path(rows[1]["path"]), "stash", "push", "--quiet", "-m", "an agent's")
    before = fan.repos.git(repo, "stash", "list")
    kept = fan.run("keep", rows[0]["id"], cwd=repo)
    assert kept.code == 0, kept.err
    assert "git stash entry made there: " in kept.err
    assert "an agent's" in kept.err
    assert "my old one" not in kept.err
    assert fan.run("undo", cwd=repo).code == 0
    assert fan.repos.git(repo, "stash", "list") == before
