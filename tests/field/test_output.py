"""Field cases: what is printed, for people and for scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, error, listed, recipe, start
from tests.support.puppets import Puppets
from tests.support.tmux import terminal
from tests.support.wait import eventually


@pytest.mark.field("B075")
def test_b075_brackets_are_letters(fan: Fan, puppets: Puppets) -> None:
    """Brackets in folder, prompt, an agent's words and an error line are shown letter by letter, on a pipe and on a
    terminal."""
    repo = fan.repos.repo("api [red] [id]")
    recipe(puppets, "dying", ("puppet.py", "bracket"))
    program = fan.folder / "bracket"
    program.write_text("#!/bin/sh\necho '[red]dead[/] [y/N] [id]'\nexit 3\n")
    program.chmod(0o755)
    fan.env["PATH"] = f"{fan.folder}:{fan.env['PATH']}"
    (row,) = start(fan, repo, 1, "dying", "[red] [/] [id] [y/N]", code=1)
    assert "[red]dead[/] [y/N] [id]" in row["prompt_note"]
    assert "[red]dead[/] [y/N] [id]" in fan.run("ls", cwd=repo).out
    assert "[red]dead[/] [y/N] [id]" in fan.run("why", row["id"], cwd=repo).out
    refused = fan.run("keep", "[/red] [bold]x", cwd=repo)
    assert "`[/red] [bold]x`" in refused.err
    with terminal([*PROGRAM, "ls", "--repo", str(repo)], fan.env, width=250) as shown:
        eventually(shown.ended, within=20)
        text = shown.seen.decode()
    assert "api [red] [id]" in text
    assert "[red]dead[/]" in text
    assert "Traceback" not in text


@pytest.mark.field("B076")
def test_b076_screen_and_json_agree_in_five_states(fan: Fan, puppets: Puppets) -> None:
    """Members in five states: `ls` and `ls --json` say the same of each, and a start of which one failed ends with 5
    and one JSON value."""
    repo = fan.repos.repo()
    agents = "puppet,puppet:busy,puppet:gate,puppet:limit,puppet:die-now"
    done = fan.run("5", "--agent", agents, "--json", "Do it", cwd=repo, env={"PUPPET_ARGS": ""})
    assert done.code == 5, done.out
    wanted = ["rest", "working", "needs_input", "limited", "exited"]
    rows, group = done.json["members"], done.json["group"]
    for row, state in zip(rows, wanted, strict=True):
        becomes(fan, row, state=state)
    shown = {line.split()[-1]: line for line in fan.run("ls", "--group", group, cwd=repo).out.splitlines()}
    asked = listed(fan, repo)
    assert list(shown) == list(asked) == [row["id"] for row in rows]
    for row in asked.values():
        words = shown[row["id"]].split("  ")
        assert [word.strip() for word in words if word.strip()][4].split()[0] == row["state"]
        assert row["prompt_status"].replace("_", " ") in shown[row["id"]]
        assert row["kind"] in shown[row["id"]]
    assert [row["prompt_status"] for row in asked.values()] == ["sent", "sent", "pending", "sent", "not_sent"]


@pytest.mark.field("B076")
@pytest.mark.parametrize(
    "words",
    [
        ["send", "nobody-here", "x"],
        ["why", "nobody-here"],
        ["keep", "nobody-here"],
        ["rm", "nobody-here"],
        ["group", "rm", "nobody-here"],
        ["ls", "--group", "nobody-here"],
        ["attach", "nobody-here"],
        ["undo"],
    ],
    ids=lambda words: words[0],
)
def test_b076_a_failure_is_one_error_object_and_a_code(fan: Fan, puppets: Puppets, words: list[str]) -> None:
    """Every verb with an unknown name, inside and outside of a repository: exit code 1, one error object."""
    repo = fan.repos.repo()
    for where in (repo, Path("/")):
        done = fan.run(*words, "--json", cwd=where)
        assert (done.code, done.err) == (1, "")
        assert set(error(done.out)) == {"code", "message", "not_done", "hint"}
        assert error(done.out)["message"]
