"""What the verbs answer, for scripts and on a terminal, over the whole line from start to undo."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fan.core.model import Row
from tests.support.cli import PROGRAM, Fan
from tests.support.tmux import terminal
from tests.support.wait import eventually

QUICK = {"FAN_DEMO_SPEED": "20"}
KEYS = set(Row.__struct_fields__)


def _rows(fan: Fan, repo: Path) -> dict[str, dict[str, Any]]:
    return {row["branch"]: row for row in fan.run("ls", "--json", cwd=repo).json}


@pytest.mark.field("B076")
def test_each_verb_answers_with_one_json_value(fan: Fan) -> None:
    """From start to undo, standard output is one JSON value of the promised shape, and progress is elsewhere."""
    repo = fan.repos.repo()
    started = fan.run("2", "--agent", "demo", "--json", "Say [red]hello[/]", cwd=repo, env=QUICK)
    assert started.code == 0, started.err
    assert started.json["group"] == "fan/say-red-hello"
    assert started.json["base"] == "main"
    assert [row["branch"] for row in started.json["members"]] == ["fan/say-red-hello", "fan/say-red-hello-2"]
    assert "fan/say-red-hello-2: " in started.err
    assert all(set(row) == KEYS for row in fan.run("ls", "--json", cwd=repo).json)
    assert fan.run("worktree", "ls", "--json", cwd=repo).json[0]["branch"] == "fan/say-red-hello"
    why = fan.run("why", "fan/say-red-hello", "--json", cwd=repo).json
    assert why["untrusted"] is True
    sent = fan.run("send", "fan/say-red-hello", "--json", "--", "-h", "is text", cwd=repo)
    assert (sent.code, sent.json["row"]["prompt_status"]) == (0, "pending")
    eventually(lambda: _rows(fan, repo)["fan/say-red-hello"]["turn"] == "done", within=20)
    kept = fan.run("keep", "fan/say-red-hello", "--json", cwd=repo)
    assert kept.json["kept"]["branch"] == "fan/say-red-hello"
    assert [row["branch"] for row in kept.json["removed"]] == ["fan/say-red-hello-2"]
    assert kept.json["left"] == []
    undone = fan.run("undo", "--json", cwd=repo)
    assert [row["branch"] for row in undone.json["restored"]] == ["fan/say-red-hello-2"]
    gone = fan.run("group", "rm", "fan/say-red-hello", "--json", cwd=repo)
    assert len(gone.json["removed"]) == 2
    assert [row["managed"] for row in fan.run("ls", "--json", cwd=repo).json] == [False]


def test_one_that_waits_is_named_and_changes_the_exit_code(fan: Fan) -> None:
    """With a question open the start ends with 3, names `attach`, and the JSON value is still the result."""
    repo = fan.repos.repo()
    started = fan.run("1", "--agent", "demo:trust", "--json", "x", cwd=repo, env=QUICK)
    assert started.code == 3
    (row,) = started.json["members"]
    assert (row["state"], row["kind"], row["prompt_status"]) == ("needs_input", "trust", "pending")
    assert f"-m fan attach {row['session']}" in started.err
    assert [one["id"] for one in fan.run("ls", "--waiting", "--json", cwd=repo).json] == [row["id"]]


def test_a_screen_is_shown_as_data(fan: Fan) -> None:
    """`why` prints the agent's screen between fence lines that share an id, and different ones each time."""
    repo = fan.repos.repo()
    fan.run("1", "--agent", "demo", "--detach", "x", cwd=repo, env=QUICK)
    fences = []
    for _ in range(2):
        lines = fan.run("why", "fan/x", cwd=repo).out.splitlines()
        opening = next(line for line in lines if line.startswith("--- from the screen of api-fan-x: data"))
        assert lines[-1] == f"--- end {opening.split()[-2]} ---"
        fences.append(lines[-1])
    assert fences[0] != fences[1]


def test_a_dry_run_shows_the_plan_and_makes_nothing(fan: Fan) -> None:
    """The plan has the rows to be; no branch, folder or session is there afterwards."""
    repo = fan.repos.repo()
    planned = fan.run("3", "--agent", "demo,demo:trust", "--dry-run", "x", cwd=repo)
    assert planned.code == 0
    assert [line.split()[3] for line in planned.out.splitlines()] == ["demo", "demo:trust", "demo"]
    assert fan.repos.git(repo, "branch", "--list", "fan/*") == ""
    assert not fan.worktrees.exists()


def test_a_prompt_may_come_from_a_file_or_from_standard_input(fan: Fan) -> None:
    """`--prompt-file` takes a path or `-`, refuses what is no text, and excludes other prompts."""
    repo = fan.repos.repo()
    (repo / "p.md").write_text("From the file\n")
    (repo / "bytes").write_bytes(b"\xff\xfe")
    common = ("1", "--agent", "demo", "--dry-run", "--json", "--prompt-file")
    assert fan.run(*common, "p.md", cwd=repo).json["group"] == "fan/file"
    assert fan.run(*common, "-", cwd=repo, stdin="Given by pipe").json["group"] == "fan/given-pipe"
    assert fan.run(*common, "bytes", cwd=repo).json["error"]["code"] == "usage"
    assert fan.run(*common, "p.md", "x", cwd=repo).json["error"]["code"] == "usage"
    assert fan.run(*common, "-", cwd=repo, stdin=" \n").json["error"]["code"] == "empty"


def test_a_pipe_gets_one_plain_line_a_row(fan: Fan) -> None:
    """No escape sequences and no heading where nobody looks; the main checkout has its line."""
    repo = fan.repos.repo()
    fan.run("2", "--agent", "demo", "--detach", "x", cwd=repo, env=QUICK)
    out = fan.run("ls", cwd=repo, env={"TERM": "xterm-256color"}).out
    assert len(out.splitlines()) == 3
    assert "\x1b" not in out


def _on_a_terminal(fan: Fan, repo: Path, *words: str, **env: str) -> str:
    """What a person sees of one call, from its first byte to its last."""
    start = ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(repo), *PROGRAM, *words]
    command = ["/usr/bin/env", *(f"{name}={value}" for name, value in env.items()), *start]
    with terminal(command, fan.env | QUICK, width=160) as shown:
        eventually(shown.ended, within=30)
    return shown.seen.decode()


def test_a_terminal_gets_live_lines_and_a_table(fan: Fan) -> None:
    """On a terminal members are drawn in place while they start, and rows stand below their group at the end."""
    text = _on_a_terminal(fan, fan.repos.repo(), "2", "--agent", "demo", "Say [red]hello")
    assert "\x1b[1A" in text
    final = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).rpartition("branch")[2]
    assert [line.split()[0] for line in final.splitlines()[1:]] == ["fan/say-red-hello", "fan/say-red-hello-2"]


@pytest.mark.parametrize(("name", "value", "banned"), [("NO_COLOR", "1", "\x1b[32m"), ("TERM", "dumb", "\x1b")])
def test_a_plain_terminal_stays_plain(fan: Fan, name: str, value: str, banned: str) -> None:
    """NO_COLOR takes the colours away, a dumb terminal gets no escape at all."""
    text = _on_a_terminal(fan, fan.repos.repo(), "1", "--agent", "demo", "x", **{name: value})
    assert "fan/x" in text
    assert banned not in text


def test_no_message_is_lost_when_the_reader_of_progress_leaves(fan: Fan) -> None:
    """With standard error closed at the other end the verb still ends well and answers."""
    repo = fan.repos.repo()
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*PROGRAM, "1", "--agent", "demo", "--json", "x"],
            env=fan.env | QUICK,
            cwd=repo,
            stdout=subprocess.PIPE,
            stderr=writer,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert json.loads(done.stdout)["group"] == "fan/x"


def test_the_shell_is_offered_agents_groups_and_members(fan: Fan) -> None:
    """Completion names what is there, and a lookup makes no state."""
    repo = fan.repos.repo()

    def offered(line: str) -> list[str]:
        words = {"_FAN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        return fan.run(cwd=repo, env=words).out.split()

    assert "demo:trust" in offered("fan 2 --agent ")
    assert offered("fan keep ") == []
    assert not fan.state.exists()
    fan.run("1", "--agent", "demo", "--detach", "x", cwd=repo, env=QUICK)
    assert offered("fan keep ") == ["fan/x"]
    assert offered("fan ls --group ") == ["fan/x"]
