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
    """The plan has branch, agent, folder and how the prompt begins; nothing of it is there afterwards."""
    repo = fan.repos.repo()
    planned = fan.run("3", "--agent", "demo,demo:trust", "--dry-run", "Mend\nall", cwd=repo)
    assert planned.code == 0
    told = [line.split() for line in planned.out.splitlines()]
    assert [line[0] for line in told] == ["fan/mend-all", "fan/mend-all-2", "fan/mend-all-3"]
    assert [line[1] for line in told] == ["demo", "demo:trust", "demo"]
    assert all(Path(line[2]).parent.parent == fan.worktrees for line in told)
    assert [line[3:] for line in told] == [["Mend..."]] * 3
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
    bytes_ = fan.run(*common[:-1], os.fsdecode(b"\xff x"), cwd=repo).json["error"]
    assert (bytes_["code"], bytes_["not_done"]) == ("usage", "nothing was sent")
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
    assert offered("fan attach ") == ["fan/x"]
    assert offered("fan archive show ") == []
    fan.repos.commit(Path(fan.run("ls", "--json", cwd=repo).json[0]["path"]), {"new": "n"}, "Work")
    assert fan.run("rm", "fan/x", cwd=repo).code == 0
    assert offered("fan archive show ") == [one["id"] for one in fan.run("archive", "ls", "--json", cwd=repo).json]


def test_a_text_that_is_sent_may_come_from_standard_input(fan: Fan) -> None:
    """`fan send M -` types what is piped in, as ask and mail do; behind `--` it is a dash. Red when both are."""
    repo = fan.repos.repo()
    row = fan.run("1", "--agent", "demo", "--detach", "--json", "x", cwd=repo, env=QUICK).json["members"][0]
    assert fan.run("send", row["id"], "-", cwd=repo, stdin="Words by pipe\n").code in (0, 3)
    assert fan.run("send", row["id"], "--", "-", cwd=repo, stdin="not read").code in (0, 3)
    eventually(lambda: "Words by pipe" in fan.run("why", row["id"], cwd=repo).out, within=20)
    assert "not read" not in fan.run("why", row["id"], cwd=repo).out


def test_what_cannot_be_read_is_told_in_words_with_a_command_that_works(fan: Fan) -> None:
    """A wrong settings file names the command that shows it, a wrong `fan.toml` hides no setting, a recipe that is
    not there has no number of the system's. Red when `fan config` is named as the way out of its own failure."""
    repo = fan.repos.repo()
    (repo / "fan.toml").write_text('copy = "x"\n')
    shown = fan.run("config", cwd=repo)
    assert (shown.code, "`copy`: it must be a list, not text" in shown.out, "max_members" in shown.out) == (
        0,
        True,
        True,
    )
    assert "Errno" not in fan.run("recipe", "check", "nope", cwd=repo).err
    fan.config.mkdir()
    (fan.config / "config.toml").write_text("max_members = 'many'\n")
    refused = fan.run("config", "--json", cwd=repo).json["error"]
    assert "`max_members`: it must be a whole number, not text" in refused["message"]
    assert refused["hint"] == f"cat {fan.config / 'config.toml'}"
    (fan.config / "config.toml").unlink()
    assert fan.run("archive", "rm", "--older-than", "9999", cwd=repo).out == "there was nothing to drop\n"
