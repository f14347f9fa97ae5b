"""Field cases: files handed over, and the folder for requests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.members import start
from tests.support.puppets import Puppets
from tests.support.wait import eventually


@pytest.mark.field("B067")
def test_b067_the_stash_verb_is_not_git_s(fan: Fan) -> None:
    """Whatever `fan stash` does, git's stack is as it was, and its help says that it is another."""
    repo = fan.repos.repo()
    fan.repos.write(repo, {"README.md": "mine\n"})
    fan.repos.git(repo, "stash", "push", "--quiet", "-m", "my old one")
    before = fan.repos.git(repo, "stash", "list", "--format=%H %gs")
    put = fan.run("stash", "put", "README.md", "--json", cwd=repo).json
    assert fan.run("stash", "get", put["id"], cwd=repo).out == (repo / "README.md").read_text()
    assert fan.run("stash", "ls", cwd=repo).code == 0
    assert fan.run("stash", "rm", put["id"], cwd=repo).code == 0
    assert fan.repos.git(repo, "stash", "list", "--format=%H %gs") == before
    assert fan.repos.git(repo, "status", "--porcelain") == ""
    assert "nothing to do with git's stash" in fan.run("stash", "--help").out


@pytest.mark.field("B074")
def test_b074_neither_stash_nor_requests_are_open_to_others(fan: Fan, puppets: Puppets) -> None:
    """Under umask 0 nobody else reads what was stashed, asked or answered, and no temporary file is left.

    Red when a file or the folder that holds it is made with the mode that the umask allows.
    """
    repo, scratch = fan.repos.repo(), fan.folder / "tmp"
    scratch.mkdir()
    fan.env["TMPDIR"] = str(scratch)
    umask = ["sh", "-c", 'umask 0; exec "$@"', "sh", *PROGRAM]
    subprocess.run(
        [*umask, "1", "--agent", "puppet", "--json", "Do it"], cwd=repo, env=fan.env, capture_output=True, check=True
    )
    (member,) = (fan.state / "members").iterdir()
    folder = member / "requests"
    secret = repo / "secret.txt"
    secret.write_text("secret")
    subprocess.run([*umask, "stash", "put", str(secret)], cwd=repo, env=fan.env, capture_output=True, check=True)
    (folder / "part").write_text('{"words": ["mail", "ls"], "cwd": "/", "stdin": ""}')
    (folder / "part").rename(folder / "0123456789abcdef.request")
    answer = folder / "0123456789abcdef.answer"
    eventually(answer.exists, within=20)
    assert answer.stat().st_mode & 0o077 == 0
    for top in (fan.state / "stash", folder):
        assert top.stat().st_mode & 0o077 == 0
    assert fan.state.stat().st_mode & 0o077 == 0
    assert not [place for place in scratch.iterdir() if "tmp" in place.name]


@pytest.mark.field("B074")
def test_b074_another_s_answer_is_out_of_reach_by_name(fan: Fan, puppets: Puppets) -> None:
    """A request may not lead out of its folder: a name with a separator, or one of another kind, is none."""
    (row,) = start(fan, fan.repos.repo(), 1, "puppet", "Do it")
    folder = fan.state / "members" / row["id"] / "requests"
    words = '{"words": ["mail", "send", "human", "x"], "cwd": "/", "stdin": ""}'
    for name in ("..request", "0123456789ABCDEF.request", "0123456789abcdef.request.taken", "short.request"):
        (folder / name).write_text(words)
    (folder / "part").write_text(words)
    (folder / "part").rename(folder / "0123456789abcdef.request")
    eventually((folder / "0123456789abcdef.answer").exists, within=20)
    assert len(fan.run("mail", "read", "human", "--json").json["messages"]) == 1
    assert Path(folder, "short.request").exists()
