"""Field cases: starting, names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Fan
from tests.support.members import becomes, cycle, error, listed, recipe, sessions, start, traces
from tests.support.puppets import Puppets
from tests.support.repos import snapshot


@pytest.mark.field("B001")
def test_b001_agents_that_die_at_start_are_told_and_cleared_by_the_printed_command(
    fan: Fan, puppets: Puppets
) -> None:
    """Three agents that exit with 1 are `not_sent` with code and last words; one printed command clears all away,
    and the same line then works with the same names.

    Red when the delivery of a dead agent stays pending, or when a removed member without work keeps its branch.
    """
    repo = fan.repos.repo()
    before = traces(fan, repo)
    recipe(puppets, "broken", ('["puppet.py"]\ndrop', '["puppet.py", "--die", "0.3:1"]\ndrop'))
    done = fan.run("3", "--agent", "broken", "--json", "Mend it", cwd=repo)
    assert done.code == 1, done.out
    for row in done.json["members"]:
        assert (row["prompt_status"], row["typed"], row["state"]) == ("not_sent", "no", "exited")
        assert "code 1" in row["prompt_note"]
        assert "puppet at your service" in row["prompt_note"]
    assert done.json["hints"] == [f"fan why {done.json['members'][0]['id']}", "fan group rm fan/mend"]
    cleared = fan.run("group", "rm", "fan/mend", cwd=repo)
    assert cleared.code == 0, cleared.err
    assert traces(fan, repo) == before
    assert len(fan.run("undo", "--json", cwd=repo).json["restored"]) == 3
    assert fan.run("group", "rm", "fan/mend", cwd=repo).code == 0
    recipe(puppets, "broken")
    again = start(fan, repo, 3, "broken", "Mend it")
    assert [row["branch"] for row in again] == ["fan/mend", "fan/mend-2", "fan/mend-3"]


@pytest.mark.parametrize("words", [["--wait"], ["--timeout", "5"], ["--timeout", "0"]])
def test_who_detaches_does_not_wait(fan: Fan, puppets: Puppets, words: list[str]) -> None:
    """`--detach` with a wait is refused in one sentence, and nothing is made.

    Red when one of the two silently wins.
    """
    repo = fan.repos.repo()
    before = traces(fan, repo)
    done = fan.run("2", "--agent", "puppet", "--detach", *words, "--json", "Do it", cwd=repo)
    assert (done.code, error(done.out)["code"]) == (2, "usage")
    assert error(done.out)["message"] == "--detach waits for nothing: it excludes --wait and --timeout"
    assert traces(fan, repo) == before


@pytest.mark.field("B001")
def test_b001_a_missing_program_or_folder_leaves_nothing(fan: Fan, puppets: Puppets) -> None:
    """A command that is not on PATH is refused before anything is made; a folder that cannot be made fails all
    members and leaves no branch, and the same line works once it can."""
    repo = fan.repos.repo()
    before = traces(fan, repo)
    recipe(puppets, "absent", ('["puppet.py"]\ndrop', '["no-such-program"]\ndrop'))
    done = fan.run("3", "--agent", "absent", "--json", "Mend it", cwd=repo)
    assert (done.code, error(done.out)["code"]) == (1, "tool_missing")
    assert "no-such-program" in error(done.out)["message"]
    assert traces(fan, repo) == before
    fan.worktrees.write_text("in the way")
    failed = fan.run("2", "--agent", "puppet", "--json", "Mend it", cwd=repo)
    assert failed.code == 1, failed.out
    fan.worktrees.unlink()
    assert traces(fan, repo) == before
    assert [row["branch"] for row in start(fan, repo, 2, "puppet", "Mend it")] == ["fan/mend", "fan/mend-2"]


@pytest.mark.field("B003")
def test_b003_members_start_from_where_the_person_stands(fan: Fan, puppets: Puppets) -> None:
    """Each worktree's HEAD is the person's unpushed one, the base is printed, and so is what did not come along;
    `--base` gives another."""
    repo = fan.repos.repo()
    first = fan.repos.git(repo, "rev-parse", "HEAD")
    fan.repos.git(repo, "checkout", "--quiet", "-b", "feature")
    fan.repos.commit(repo, {"one.txt": "1\n"})
    head = fan.repos.commit(repo, {"two.txt": "2\n"})
    fan.repos.write(repo, {"README.md": "edited\n"})
    done = fan.run("2", "--agent", "puppet", "--json", "--detach", "finish it", cwd=repo)
    for row in done.json["members"]:
        assert fan.repos.git(Path(row["path"]), "rev-parse", "HEAD") == head
        assert (Path(row["path"]) / "README.md").read_text() == "hello\n"
    assert done.json["base"] == "feature"
    assert f"base: feature ({head[:10]})" in done.err
    assert "1 uncommitted change is not carried over" in done.err
    (row,) = start(fan, repo, 1, "puppet", "--base", "main", "--detach", "another")
    assert fan.repos.git(Path(row["path"]), "rev-parse", "HEAD") == first
    assert fan.repos.git(repo, "status", "--porcelain", "--branch") == "## feature\n M README.md"


@pytest.mark.field("B005")
def test_b005_the_main_checkout_sees_nothing_of_the_worktrees(fan: Fan, puppets: Puppets) -> None:
    """Status stays clean, `add --all` adds nothing, no file of the main checkout or its exclude file changes."""
    repo = fan.repos.repo()
    exclude = repo / ".git" / "info" / "exclude"
    before = {name: seen for name, seen in snapshot(repo).items() if not name.startswith(".git")}
    excluded = exclude.read_bytes()
    start(fan, repo, 3, "puppet", "Tidy up")
    assert fan.repos.git(repo, "status", "--porcelain", "--ignored") == ""
    assert fan.repos.git(repo, "add", "--all", "--dry-run") == ""
    assert {name: seen for name, seen in snapshot(repo).items() if not name.startswith(".git")} == before
    assert exclude.read_bytes() == excluded


@pytest.mark.field("B007")
def test_b007_a_branch_in_the_way_is_found_before_anything_is_made(fan: Fan, puppets: Puppets) -> None:
    """A branch that is a part of our name, or has it as a part, is named in the refusal; one that has exactly our
    name only costs a number."""
    repo = fan.repos.repo()
    fan.repos.git(repo, "branch", "fan")
    fan.repos.git(repo, "branch", "topic")
    fan.repos.git(repo, "branch", "other/old/x")
    before = traces(fan, repo)
    for words, blocker in ((["Do it"], "fan"), (["--name", "other", "Do it"], "other/old/x")):
        done = fan.run("2", "--agent", "puppet", "--json", *words, cwd=repo)
        told = error(done.out)
        assert (done.code, told["code"], told["not_done"]) == (1, "conflict", "nothing was made")
        assert f"branch {blocker}" in told["message"]
        assert traces(fan, repo) == before
    rows = start(fan, repo, 2, "puppet", "--name", "topic", "--detach", "Do it")
    assert [row["branch"] for row in rows] == ["topic-2", "topic-3"]


@pytest.mark.field("B008")
def test_b008_dots_and_colons_in_names_lose_no_session(fan: Fan, puppets: Puppets) -> None:
    """With dots in repository and group every step finds its session; a colon, which git forbids, is refused."""
    repo = fan.repos.repo("site.example.org")
    before = traces(fan, repo)
    refused = fan.run("2", "--agent", "puppet", "--json", "--name", "v1.2:b", "Do it", cwd=repo)
    assert refused.code in (1, 2)
    assert "v1.2:b" in error(refused.out)["message"]
    assert traces(fan, repo) == before
    rows = cycle(fan, puppets, repo, "--name", "v1.2.b")
    assert rows[0]["session"] == "site-example-org-v1-2-b"


@pytest.mark.field("B010")
def test_b010_two_repositories_of_one_name_do_not_mix(fan: Fan, puppets: Puppets) -> None:
    """The same group in two repositories of one folder name: both run, each lists its own, keep in one leaves the
    other alone."""
    left, right = fan.repos.repo("left/api"), fan.repos.repo("right/api")
    ours = start(fan, left, 2, "puppet", "--name", "topic", "Do it")
    theirs = start(fan, right, 2, "puppet", "--name", "topic", "Do it")
    assert len(set(sessions(fan))) == 4
    assert list(listed(fan, left)) == [row["id"] for row in ours]
    assert list(listed(fan, right)) == [row["id"] for row in theirs]
    kept = fan.run("keep", "topic", "--json", cwd=left)
    assert [row["id"] for row in kept.json["removed"]] == [ours[1]["id"]]
    assert list(listed(fan, right)) == [row["id"] for row in theirs]
    for row in theirs:
        becomes(fan, row, state="rest", gone=False)


def test_a_runtime_folder_that_others_may_enter_is_closed(fan: Fan, puppets: Puppets) -> None:
    """Made by hand with the usual mode it serves all the same. Goes red when only tmux looks at it, and refuses."""
    fan.runtime.mkdir(mode=0o755)
    (row,) = start(fan, fan.repos.repo(), 1, "puppet", "do it")
    assert row["prompt_status"] == "sent"
    assert fan.runtime.stat().st_mode & 0o777 == 0o700


def test_a_runtime_folder_that_cannot_be_is_found_before_anything_is_made(fan: Fan, puppets: Puppets) -> None:
    """A link in its place is refused with what to do; there is no group, no branch and no worktree."""
    (fan.folder / "elsewhere").mkdir()
    fan.runtime.symlink_to(fan.folder / "elsewhere")
    repo = fan.repos.repo()
    before = snapshot(repo)
    for words in (["2", "--agent", "puppet", "do it"], ["worktree", "new", "x", "--agent", "puppet"]):
        refused = error(fan.run(*words, "--json", cwd=repo).out)
        assert (refused["code"], refused["not_done"]) == ("not_allowed", "nothing was made")
        assert refused["hint"]
    assert snapshot(repo) == before
    fan.runtime.unlink()
    assert listed(fan, repo, "--all") == {}
