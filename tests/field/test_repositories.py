"""Field cases: shapes of repositories, hooks and what does not travel."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.members import cycle, error, listed, start, traces
from tests.support.puppets import Puppets
from tests.support.repos import snapshot
from tests.support.wait import eventually


def _filtered(fan: Fan, smudge: str, *, required: bool = False) -> Path:
    """A repository whose `*.bin` go through a filter on their way out."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitattributes": "*.bin filter=big\n"})
    fan.repos.commit(repo, {f"{n}.bin": f"{n}\n" for n in range(3)})
    fan.repos.git(repo, "config", "filter.big.smudge", smudge)
    fan.repos.git(repo, "config", "filter.big.required", str(required).lower())
    return repo


@pytest.mark.field("B011")
def test_b011_a_repository_without_a_commit_is_refused_in_one_sentence(fan: Fan, puppets: Puppets) -> None:
    """The refusal says that a first commit is needed; nothing is made, and no commit by us."""
    repo = fan.repos.home / "fresh"
    repo.mkdir()
    fan.repos.git(repo, "init", "--quiet", "--initial-branch", "trunk")
    before = traces(fan, repo)
    done = fan.run("2", "--agent", "puppet", "--json", "Do it", cwd=repo)
    assert (done.code, error(done.out)["code"]) == (1, "no_commit")
    assert "commit" in error(done.out)["message"]
    assert traces(fan, repo) == before
    assert fan.repos.git(repo, "for-each-ref") == ""


@pytest.mark.field("B013")
@pytest.mark.parametrize("place", ["hub", "linked"])
def test_b013_a_bare_hub_is_no_obstacle(fan: Fan, puppets: Puppets, place: str) -> None:
    """From a bare hub and from a worktree of it the whole cycle works; the hub's configuration is the same to the
    byte."""
    hub = fan.repos.hub()
    linked = fan.repos.home / "linked"
    fan.repos.git(hub, "worktree", "add", "--quiet", "-b", "work", str(linked))
    config = (hub / "config").read_bytes()
    rows = cycle(fan, puppets, hub if place == "hub" else linked)
    assert (hub / "config").read_bytes() == config
    assert {row["repo"] for row in rows} == {str(hub)}
    assert fan.repos.git(linked, "status", "--porcelain") == ""


@pytest.mark.field("B013")
def test_b013_bare_for_all_worktrees_is_said_in_one_line(fan: Fan, puppets: Puppets) -> None:
    """With `worktreeConfig` on and `core.bare` in the shared configuration no worktree can be used: one line says so
    and nothing is left."""
    hub = fan.repos.hub()
    fan.repos.git(hub, "config", "extensions.worktreeConfig", "true")
    before, config = traces(fan, hub), (hub / "config").read_bytes()
    done = fan.run("2", "--agent", "puppet", "--json", "Do it", cwd=hub)
    assert done.code == 1
    assert "core.bare is set for all worktrees" in done.out
    assert traces(fan, hub) == before
    assert (hub / "config").read_bytes() == config


@pytest.mark.field("B015")
def test_b015_a_slow_filter_holds_up_only_its_own_member(fan: Fan, puppets: Puppets) -> None:
    """The first agent has its prompt before the third's files are there, and each one's phase is told.

    Red when agents start only once all worktrees are complete.
    """
    repo = _filtered(fan, "case $PWD in *-3) sleep 1.5;; esac; cat")
    done = fan.run("3", "--agent", "puppet", "--json", "Do it", cwd=repo)
    first, _, last = done.json["members"]
    taken = next(one for one in puppets.events(first, "key") if one["key"] == "enter")
    assert taken["at"] < puppets.started(last)["at"]
    assert "fan/do-3: files" in done.err
    assert [puppets.submitted(row) for row in done.json["members"]] == [[b"Do it"]] * 3
    assert (Path(last["path"]) / "2.bin").read_text() == "2\n"


@pytest.mark.field("B015")
def test_b015_a_missing_filter_is_named_and_no_agent_starts(fan: Fan, puppets: Puppets) -> None:
    """Where a required filter's program is missing, filter and file are named and nothing half-made is left."""
    repo = _filtered(fan, "no-such-filter %f", required=True)
    before = traces(fan, repo)
    done = fan.run("2", "--agent", "puppet", "--json", "Do it", cwd=repo)
    assert done.code == 1, done.out
    for row in done.json["members"]:
        assert "0.bin" in row["prompt_note"]
        assert "big" in row["prompt_note"]
    assert traces(fan, repo) == before
    assert not list(puppets.folder.iterdir())


@pytest.mark.field("B017")
def test_b017_odd_characters_in_the_path(fan: Fan, puppets: Puppets) -> None:
    """With blanks, accents, brackets and quotes in the folder's name every step works and the path is shown whole."""
    repo = fan.repos.repo("My Project ü [x] 'q'")
    fan.worktrees = fan.folder / "w ü [x] 'q'"
    rows = cycle(fan, puppets, repo, env={"FAN_WORKTREE_DIR": str(fan.worktrees)})
    assert rows[0]["repo"] == str(repo)
    assert "My Project ü [x] 'q'" in fan.run("ls", cwd=repo).out


@pytest.mark.field("B018")
def test_b018_a_failing_hook_is_a_warning(fan: Fan, puppets: Puppets) -> None:
    """A post-checkout hook that exits 3 costs no agent; `fan why` tells the warning with its output again."""
    repo = fan.repos.repo()
    fan.repos.hook(repo, "echo 'no luck today' >&2; exit 3")
    done = fan.run("3", "--agent", "puppet", "--json", "Do it", cwd=repo)
    assert done.code == 0, done.err
    assert [row["prompt_status"] for row in done.json["members"]] == ["sent"] * 3
    warnings = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    assert warnings
    assert all("no luck today" in line for line in warnings)
    told = [fan.run("why", row["id"], cwd=repo).out.splitlines() for row in done.json["members"]]
    again = [line.split(maxsplit=4)[4] for lines in told for line in lines if line.startswith("when it was made")]
    assert sorted(again) == sorted(line.split(": ", 2)[2] for line in warnings)


@pytest.mark.field("B018")
def test_b018_a_half_made_checkout_is_an_error(fan: Fan, puppets: Puppets) -> None:
    """When git is killed in the middle of a checkout, no agent starts there and nothing of it is left.

    Red when the exit code of the checkout is not looked at.
    """
    repo = _filtered(fan, "sleep 0.7; cat")
    before = traces(fan, repo)
    command = [*PROGRAM, "1", "--agent", "puppet", "--json", "Do it"]
    with subprocess.Popen(command, cwd=repo, env=fan.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starting:
        eventually(lambda: any(fan.worktrees.glob("*/*/0.bin")), within=20)
        for process in psutil.Process(starting.pid).children():
            with suppress(psutil.NoSuchProcess):
                if "reset" in process.cmdline():
                    process.kill()
        starting.communicate(timeout=20)
    assert starting.returncode == 1
    assert traces(fan, repo) == before
    assert not list(puppets.folder.iterdir())


@pytest.mark.field("B020")
def test_b020_hooks_go_on_as_the_repository_says(fan: Fan, puppets: Puppets) -> None:
    """With a relative hook path, a commit in a worktree runs that worktree's own hook; the shared configuration
    stays the same to the byte through start and keep."""
    repo = fan.repos.repo()
    fan.repos.write(repo, {"hooks/pre-commit": "#!/bin/sh\npwd > ran\n"})
    (repo / "hooks" / "pre-commit").chmod(0o755)
    fan.repos.commit(repo, {"README.md": "hooks\n", "hooks/pre-commit": "#!/bin/sh\npwd > ran\n"})
    fan.repos.git(repo, "config", "core.hooksPath", "hooks")
    config = (repo / ".git" / "config").read_bytes()
    rows = start(fan, repo, 3, "puppet", "Do it")
    made = Path(rows[1]["path"])
    fan.repos.commit(made, {"new.txt": "1\n"})
    assert (made / "ran").read_text().strip() == str(made)
    assert fan.run("keep", rows[1]["id"], cwd=repo).code == 0
    assert (repo / ".git" / "config").read_bytes() == config


@pytest.mark.field("B021")
def test_b021_what_did_not_travel_is_told(fan: Fan, puppets: Puppets) -> None:
    """Untracked and ignored files that are not in the worktrees are counted and named; folders are not walked."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {".gitignore": ".env\nnode_modules/\n"})
    fan.repos.write(repo, {".env": "KEY=1\n", "AGENTS.md": "Be kind.\n", "node_modules/a/b.js": "1\n"})
    done = fan.run("2", "--agent", "puppet", "--json", "--detach", "Do it", cwd=repo)
    assert done.code == 0, done.err
    assert "1 untracked path is not there: AGENTS.md" in done.err
    assert "2 ignored paths are not there: .env, node_modules/" in done.err
    assert not (Path(done.json["members"][0]["path"]) / ".env").exists()


@pytest.mark.field("B023")
def test_b023_gits_own_variables_lead_nowhere(fan: Fan, puppets: Puppets) -> None:
    """With git's location variables pointing to a second repository, the one we stand in is worked on, the second
    stays as it was, and the agents do not get the variables.

    Red when the git door does not scrub its environment, or the launch keeps them.
    """
    ours, theirs = fan.repos.repo("ours"), fan.repos.repo("theirs")
    before = snapshot(theirs)
    led = {
        "GIT_DIR": str(theirs / ".git"),
        "GIT_WORK_TREE": str(theirs),
        "GIT_INDEX_FILE": str(theirs / ".git" / "index"),
    }
    rows = cycle(fan, puppets, ours, env=led)
    assert {row["repo"] for row in rows} == {str(ours)}
    assert snapshot(theirs) == before
    for row in rows:
        assert not {name for name in puppets.started(row)["env"] if name in led}


@pytest.mark.field("B023")
def test_b023_from_an_alias_and_from_a_hook_in_a_linked_worktree(fan: Fan, puppets: Puppets) -> None:
    """Called by a git alias, and by a pre-push hook that fires in a linked worktree, the same repository is meant."""
    repo = fan.repos.repo()
    linked, remote = fan.repos.home / "linked", fan.repos.hub("remote.git", repo)
    fan.repos.git(repo, "worktree", "add", "--quiet", "-b", "work", str(linked))
    fan.repos.git(repo, "remote", "add", "there", str(remote))
    line = " ".join([*PROGRAM, "1", "--agent", "puppet", "--detach", "Do it"]).replace("Do it", "'Do it'")
    fan.repos.hook(repo, f"{line} </dev/null >&2", "pre-push")
    fan.repos.git(linked, "-c", f"alias.go=!{line}", "go", environ=fan.env)
    fan.repos.git(linked, "push", "--quiet", "there", "work", environ=fan.env)
    rows = listed(fan, repo).values()
    assert [row["group"] for row in rows] == ["fan/do", "fan/do-b"]
    for row in rows:
        assert not [name for name in puppets.started(row)["env"] if name in ("GIT_DIR", "GIT_PREFIX")]
        puppets.takes(row, "Do it")
