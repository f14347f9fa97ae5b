"""Members one by one: `worktree new`, `worktree adopt`, and the worktrees that are nobody's member."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fan.core.model import Row
from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, error, listed, sessions, start, traces
from tests.support.puppets import Puppets, puppets
from tests.support.repos import snapshot
from tests.support.wait import eventually

__all__ = ["puppets"]

pytestmark = pytest.mark.timeout(180)


def _joined(fan: Fan, where: Path, *words: str) -> dict[str, Any]:
    """The member that `fan worktree ...` answers with."""
    done = fan.run("worktree", *words, "--json", cwd=where)
    assert done.code == 0, done.out + done.err
    member: dict[str, Any] = done.json["member"]
    return member


@contextmanager
def _running(fan: Fan, where: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*PROGRAM, *words], cwd=where, env=fan.env, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.kill()


def _by_hand(fan: Fan, repo: Path, branch: str = "handy") -> Path:
    place = fan.repos.home / f"hand-{branch}"
    fan.repos.git(repo, "worktree", "add", "--quiet", "-b", branch, str(place))
    fan.repos.commit(place, {"mine.txt": "mine\n"})
    fan.repos.write(place, {"draft.txt": "draft\n", "README.md": "changed\n"})
    return place


def test_a_new_member_needs_neither_prompt_nor_agent(fan: Fan, puppets: Puppets) -> None:
    """A branch becomes a member of a group of its name; it waits for nobody, and takes no prompt.

    Red when a member without an agent is read as one whose session is gone.
    """
    repo = fan.repos.repo()
    row = _joined(fan, repo, "new", "topic")
    assert (row["branch"], row["group"], row["base"], row["agent"], row["session"]) == (
        "topic",
        "topic",
        "main",
        "",
        "",
    )
    assert (row["gone"], row["state"], row["prompt_status"], row["detail"]) == (False, "", "", "it has no agent")
    assert fan.repos.git(Path(row["path"]), "branch", "--show-current") == "topic"
    assert listed(fan, repo, "--waiting") == {}
    assert sessions(fan) == []
    assert fan.run("send", row["id"], "Do it", cwd=repo).code == 1
    assert fan.run("resume", row["id"], cwd=repo).code == 1


def test_a_new_member_joins_a_group_and_starts_from_its_base(fan: Fan, puppets: Puppets) -> None:
    """With `--group` it begins where the others began, has the next number, its own agent, and goes by `keep`.

    Red when it starts from where the person stands by now.
    """
    repo = fan.repos.repo()
    (first,) = start(fan, repo, 1, "puppet", "--name", "topic", "Do it")
    base = fan.repos.git(repo, "rev-parse", "HEAD")
    fan.repos.commit(repo, {"later.txt": "later\n"})
    row = _joined(fan, repo, "new", "other", "--group", "topic", "--agent", "puppet", "--env", "MARK=1")
    assert fan.repos.git(Path(row["path"]), "rev-parse", "HEAD") == base
    becomes(fan, row, state="rest", turn="none")
    assert puppets.started(row)["env"]["MARK"] == "1"
    assert fan.run("send", "topic:2", "Then this", cwd=repo).code == 0
    puppets.takes(row, "Then this")
    kept = fan.run("keep", "topic:2", "--json", cwd=repo)
    assert [one["id"] for one in kept.json["removed"]] == [first["id"]]
    assert sessions(fan) == [row["session"]]


def test_an_existing_branch_is_checked_out_and_stays(fan: Fan, puppets: Puppets) -> None:
    """One that is checked out nowhere is; its removal leaves branch and commits where they were, and says so.

    Red when a removal takes the branch of a person away because nothing was done on it.
    """
    repo = fan.repos.repo()
    fan.repos.git(repo, "branch", "same")
    before = fan.repos.git(repo, "branch", "--format=%(refname) %(objectname)")
    row = _joined(fan, repo, "new", "same", "--agent", "puppet:gate")
    assert fan.repos.git(Path(row["path"]), "branch", "--show-current") == "same"
    assert fan.run("send", row["id"], "Never typed", cwd=repo).code == 3
    gone = fan.run("rm", row["id"], "--json", cwd=repo)
    assert gone.code == 0, gone.out
    assert "its branch was there before" in gone.json["notes"][0]
    assert fan.repos.git(repo, "branch", "--format=%(refname) %(objectname)") == before
    made = _joined(fan, repo, "new", "mine")
    assert fan.run("rm", made["id"], cwd=repo).code == 0
    assert "refs/heads/mine" in fan.repos.git(repo, "branch", "--format=%(refname)")


def test_what_cannot_be_new_leaves_nothing(fan: Fan) -> None:
    """A branch that is checked out, one beside which it cannot stand, a bad name, a base for one that is there, an
    unknown agent or group: one sentence each, and nothing is made."""
    repo = fan.repos.repo()
    fan.repos.git(repo, "branch", "old")
    member = _joined(fan, repo, "new", "topic")
    place = _by_hand(fan, repo)
    before = traces(fan, repo)
    refused = {
        ("main",): ("exists", "fan ls"),
        ("topic",): ("exists", "fan ls"),
        ("handy",): ("exists", f"fan worktree adopt {place}"),
        ("topic/below",): ("conflict", ""),
        ("no..name",): ("usage", ""),
        ("old", "--base", "main"): ("usage", "fan worktree new old"),
        ("x", "--base", "nowhere"): ("not_found", ""),
        ("x", "--agent", "nobody"): ("not_found", ""),
        ("x", "--group", "nobody"): ("not_found", ""),
        ("x", "--name", "topic"): ("exists", "fan ls --group topic"),
        ("x", "--name", "y", "--group", "topic"): ("usage", ""),
    }
    for words, (code, hint) in refused.items():
        done = fan.run("worktree", "new", *words, "--json", cwd=repo)
        assert (done.code != 0, error(done.out)["code"]) == (True, code), (words, done.out)
        assert hint in error(done.out)["hint"]
    assert traces(fan, repo) == before
    assert list(listed(fan, repo)) == [member["id"]]


def test_one_that_is_being_made_is_its_own_makers(fan: Fan, puppets: Puppets) -> None:
    """Into a group whose maker ended long ago: while a slow hook runs it is not taken for left behind, and if its
    maker is killed, it is.

    Red when the group's maker alone says who still makes its members.
    """
    repo = fan.repos.repo()
    start(fan, repo, 1, "puppet", "--name", "topic", "Do it")
    slow = fan.folder / "go"
    fan.repos.hook(repo, f"while [ ! -e {slow} ]; do sleep 0.05; done")
    with _running(fan, repo, "worktree", "new", "slow", "--group", "topic", "--json") as making:
        eventually(lambda: len(listed(fan, repo)) == 2, within=20)
        assert [row["state"] for row in listed(fan, repo).values()][1] == "starting"
        slow.touch()
        assert making.wait(30) == 0
    slow.unlink()
    with _running(fan, repo, "worktree", "new", "killed", "--group", "topic", "--json") as making:
        eventually(lambda: len(listed(fan, repo)) == 3, within=20)
        making.kill()
    slow.touch()
    (left,) = [row for row in listed(fan, repo).values() if row["branch"] == "killed"]
    assert left["state"] == "exited"
    assert "interrupted at step" in left["detail"]


def test_a_hand_made_worktree_is_adopted_as_it_is(fan: Fan, puppets: Puppets) -> None:
    """It joins a group with its own branch and gets an agent; no byte of it changes. Its removal says what it was,
    archives it like any other, and `undo` brings it back to its own place.

    Red when adopting moves, checks out or cleans anything.
    """
    repo = fan.repos.repo()
    (first,) = start(fan, repo, 1, "puppet", "--name", "topic", "Do it")
    place = _by_hand(fan, repo)
    before, config = snapshot(place), (repo / ".git" / "config").read_bytes()
    row = _joined(fan, place / ".", "adopt", ".", "--group", "topic", "--agent", "puppet")
    assert (row["path"], row["branch"], row["group"], row["managed"]) == (str(place), "handy", "topic", True)
    becomes(fan, row, state="rest")
    assert listed(fan, repo)[row["id"]]["ahead"] == 1
    assert puppets.started(row)["cwd"] == str(place)
    assert snapshot(place) == before
    assert (repo / ".git" / "config").read_bytes() == config
    kept = fan.run("keep", first["id"], "--json", cwd=repo)
    assert [one["id"] for one in kept.json["removed"]] == [row["id"]], kept.out
    assert any("its branch was there before" in note for note in kept.json["notes"])
    assert not place.exists()
    assert fan.repos.git(repo, "rev-parse", "handy")
    assert fan.run("undo", cwd=repo).code == 0
    assert snapshot(place) == before


def test_a_member_without_an_agent_gets_one(fan: Fan, puppets: Puppets) -> None:
    """Adopted without an agent it has no session; adopted again with one, it is the same member with a session."""
    repo = fan.repos.repo()
    place = _by_hand(fan, repo)
    bare = _joined(fan, repo, "adopt", str(place))
    assert (bare["group"], bare["session"]) == ("handy", "")
    again = fan.run("worktree", "adopt", str(place), "--json", cwd=repo)
    assert error(again.out)["code"] == "exists"
    row = _joined(fan, repo, "adopt", str(place), "--agent", "puppet")
    assert row["id"] == bare["id"]
    becomes(fan, row, state="rest")
    assert len(listed(fan, repo)) == 1


def test_what_is_no_linked_worktree_is_not_adopted(fan: Fan) -> None:
    """The main checkout, a detached worktree, a folder outside, another repository's group: one sentence each."""
    repo, other = fan.repos.repo(), fan.repos.repo("other")
    place = _by_hand(fan, repo)
    _joined(fan, other, "new", "theirs")
    loose = fan.repos.home / "loose"
    fan.repos.git(repo, "worktree", "add", "--quiet", "--detach", str(loose))
    before = traces(fan, repo)
    refused = {
        (str(repo),): "not_allowed",
        (str(repo / "src"),): "not_allowed",
        (str(loose),): "not_allowed",
        (str(fan.repos.home),): "not_found",
        (str(fan.repos.home / "nowhere"),): "not_found",
        (str(place), "--group", "theirs"): "conflict",
        (str(place), "--agent", "nobody"): "not_found",
    }
    for words, code in refused.items():
        done = fan.run("worktree", "adopt", *words, "--json", cwd=repo)
        assert (done.code, error(done.out)["code"]) == (1, code), (words, done.out)
    assert traces(fan, repo) == before


@pytest.mark.field("B048")
def test_what_is_no_member_is_shown_and_never_touched(fan: Fan, puppets: Puppets) -> None:
    """`ls` shows the main checkout and hand-made worktrees with all the keys of a row, but not as waiting or of a
    group; what removes members does not know them by any name.
    """
    repo = fan.repos.repo()
    (member,) = start(fan, repo, 1, "puppet", "--name", "fan/x", "Do it")
    place = _by_hand(fan, repo, "fan/y")
    main, hand = [row for row in fan.run("ls", "--json", cwd=repo).json if not row["managed"]]
    assert set(main) == set(hand) == set(Row.__struct_fields__)
    assert (main["path"], main["branch"], main["detail"]) == (str(repo), "main", "the main checkout")
    assert (hand["path"], hand["branch"], hand["detail"]) == (str(place), "fan/y", "made by hand")
    assert [(row["id"], row["session"], row["group"]) for row in (main, hand)] == [("", "", "")] * 2
    for words in (["--waiting"], ["--group", "fan/x"]):
        assert all(row["managed"] for row in fan.run("ls", "--json", *words, cwd=repo).json)
    assert "made by hand" in fan.run("ls", cwd=repo).out
    before = snapshot(place)
    for name in ("main", "fan/y", str(place), "", place.name, "api"):
        for verb in ("keep", "rm"):
            assert fan.run(verb, name, cwd=repo).code == 1, (verb, name)
    assert fan.run("group", "rm", "fan/x", cwd=repo).code == 0
    assert snapshot(place) == before
    assert member["id"] not in listed(fan, repo)
