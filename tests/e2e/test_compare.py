"""Members compared, checked and set against each other, with the whole command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, error, start
from tests.support.repos import snapshot
from tests.support.terminal import open_terminal
from tests.support.tmux import gone
from tests.support.wait import eventually

PROMPT = "Add a retry with backoff to the HTTP client."
STEM = "fan/add-retry-backoff-http"


class Group:
    """Two members whose demo agents have done their work; `paths` are their worktrees."""

    def __init__(self, fan: Fan) -> None:
        fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d")}
        self.fan = fan
        self.repo = fan.repos.repo()
        self.rows = start(fan, self.repo, 2, "demo", PROMPT)
        for row in self.rows:
            becomes(fan, row, turn="done")
        self.paths = [Path(row["path"]) for row in self.rows]

    def ask(self, *words: str, code: int = 0, **env: str) -> Any:
        """The JSON answer of a verb, which must end with `code`."""
        done = self.fan.run(*words[:1], "--json", *words[1:], cwd=self.repo, env=env)
        assert done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
        return done.json

    def verify(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        """How a check ended for each."""
        members: list[dict[str, Any]] = self.ask("verify", *words, code=code)["members"]
        return members

    def verdicts(self) -> list[tuple[str, bool] | None]:
        """Status and staleness of each, as `fan compare` shows them."""
        checks = [one["verify"] for one in self.ask("compare")["members"]]
        return [check and (check["status"], check["stale"]) for check in checks]


@pytest.fixture
def group(fan: Fan) -> Group:
    """Two members at rest."""
    return Group(fan)


def test_members_are_compared_without_a_trace(fan: Fan, group: Group) -> None:
    """Files, lines, commits, time, tokens and what both touch are told; repository, worktrees and the person's
    checkout are byte for byte as before.

    Red when untracked files are left out, or when the look writes an object or an index.
    """
    one, other = group.paths
    fan.repos.write(one, {"README.md": "mine\n", "new": "1\n2\n"})
    fan.repos.commit(other, {"README.md": "other\n"})
    before = snapshot(group.repo), snapshot(one)
    found = group.ask("compare")
    assert (snapshot(group.repo), snapshot(one)) == before
    assert fan.repos.git(group.repo, "fsck", "--unreachable", "--no-progress") == ""
    first, second = found["members"]
    assert (found["group"], found["base"]) == (STEM, "main")
    assert found["overlap"] == {"README.md": [first["id"], second["id"]]}
    assert (first["branch"], first["state"], first["commits"], first["uncommitted"]) == (STEM, "rest", 1, 2)
    assert {file["path"] for file in first["files"]} > {"README.md", "new"}
    assert (second["commits"], second["uncommitted"], second["shared"]) == (2, 0, ["README.md"])
    assert first["added"] == sum(file["added"] for file in first["files"])
    for member in (first, second):
        assert 0 < member["seconds"] < 30
        assert member["tokens"] == {"input": 9, "cached": 0, "output": 8}
        assert (member["verify"], member["problem"]) == (None, "")


def test_a_result_is_the_exit_code_s_and_goes_stale(fan: Fan, group: Group) -> None:
    """Exit code 5 for some, 1 for none, 0 for all; printed words change nothing; an edit makes a result stale, and
    taking it back makes it fresh again.

    Red when output is looked at, or when the tree is not part of what a result is bound to.
    """
    (group.paths[0] / "bad").write_text("x\n")
    first, second = group.verify("--", "echo 'exit code 0: 12 passed'; test ! -e bad", code=5)
    assert (first["status"], first["exit_code"], second["status"]) == ("failed", 1, "passed")
    assert first["lines"] == ["exit code 0: 12 passed"]
    assert Path(first["output"]).read_text() == "exit code 0: 12 passed\n"
    assert Path(first["output"]).is_relative_to(fan.state)
    assert group.verdicts() == [("failed", False), ("passed", False)]
    (group.paths[1] / "README.md").write_text("edited\n")
    (group.paths[0] / "bad").unlink()
    assert group.verdicts() == [("failed", True), ("passed", True)]
    fan.repos.git(group.paths[1], "checkout", "README.md")
    assert group.verdicts() == [("failed", True), ("passed", False)]
    fan.repos.git(group.paths[1], "commit", "--quiet", "--allow-empty", "-m", "Same tree, another commit")
    assert group.verdicts()[1] == ("passed", True)
    assert [one["status"] for one in group.verify("--", "false", code=1)] == ["failed", "failed"]
    assert [one["status"] for one in group.verify("--", "true")] == ["passed", "passed"]
    assert group.verdicts() == [("passed", False)] * 2
    text = fan.run("compare", cwd=group.repo).out
    assert [line.split()[1] for line in text.splitlines()[2:4]] == [STEM, f"{STEM}-2"]


def test_a_check_runs_where_and_as_the_agent_does(fan: Fan, group: Group) -> None:
    """Its folder, its member's variables, none that leads git astray, words exactly as given; no report from it
    counts as the agent's.

    Red when the words are joined, or when the launch's mark is handed on.
    """
    script = (
        'test "$FAN_MEMBER/$FAN_GROUP" = "$0" && test "$2" = "-h  *" && test -z "$TMUX$GIT_DIR$FAN_LAUNCH" && pwd'
    )
    row = group.rows[1]
    words = ("--", "sh", "-c", script, f"{row['id']}/{STEM}", "--json", "-h  *")
    (only,) = group.ask("verify", row["id"], *words, GIT_DIR="/nowhere", TMUX="x")["members"]
    assert (only["id"], only["status"], only["tree"] != "") == (row["id"], "passed", True)
    assert Path(only["output"]).read_text() == f"{group.paths[1]}\n"
    group.verify(STEM, "--", '"$FAN_BIN" report errored')
    assert [one["state"] for one in group.ask("compare")["members"]] == ["rest", "rest"]


def test_what_changes_while_a_check_runs_is_told(fan: Fan, group: Group) -> None:
    """A check that ran on files that became others is stale at once, and they are named."""
    done = fan.run("verify", f"{STEM}:1", "--", "touch made", cwd=group.repo)
    assert done.code == 0
    assert f"{STEM}: stale at once, it changed while the check ran: made" in done.err
    assert group.verdicts() == [("passed", True), None]


def test_time_is_up_for_each_and_for_all_it_started(fan: Fan, group: Group) -> None:
    """After --timeout a check and its children end, and it has not passed."""
    found = group.verify("--timeout", "1", "--", "sleep 300 & echo $! > out; wait", code=1)
    assert [(one["status"], one["exit_code"]) for one in found] == [("broken_off", None)] * 2
    assert "within 1 seconds" in found[0]["note"]
    for path in group.paths:
        _ended(path / "out")
    assert group.verdicts() == [("broken_off", True)] * 2


def _ended(file: Path) -> None:
    """Waits until the process whose id the file holds is gone."""
    eventually(lambda: gone(int(file.read_text())))


@contextmanager
def _running(group: Group, *words: str) -> Iterator[subprocess.Popen[str]]:
    command, pipe = [*PROGRAM, *words], subprocess.PIPE
    # What runs in the background of a shell inherits that Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, cwd=group.repo, env=group.fan.env, stdout=pipe, stderr=pipe, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_ctrl_c_ends_the_checks_and_a_second_one_is_refused(fan: Fan, group: Group) -> None:
    """While a check runs another of the same member is not run; Ctrl-C ends it with its children, and the result
    before it still stands.

    Red when the commands are left running, or when an unfinished check counts.
    """
    group.verify("--", "true")
    with _running(group, "verify", "--json", "--", "sleep 300 & echo $! > .git-pid; wait") as process:
        pids = [path / ".git-pid" for path in group.paths]
        eventually(lambda: all(file.exists() and file.read_text() for file in pids), within=20)
        (refused,) = group.verify(f"{STEM}:2", "--", "true", code=1)
        assert (refused["status"], refused["note"]) == ("not_run", f"another check of {STEM}:2 is running")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error(out)["code"] == "interrupted"
    for file in pids:
        _ended(file)
        file.unlink()
    assert group.verdicts() == [("passed", False)] * 2


def test_the_repository_s_own_check_has_to_be_approved(fan: Fan, group: Group) -> None:
    """Without a command the check of fan.toml is run, once a person has agreed to it; without that it is a usage
    error. What stands in an agent's worktree is not asked."""
    (group.paths[0] / "fan.toml").write_text('check = "touch /tmp/never"\n')
    assert group.ask("verify", code=2)["error"]["code"] == "usage"
    (group.repo / "fan.toml").write_text('check = "test -d demo"\n')
    refused = group.ask("verify", code=1)["error"]
    assert (refused["code"], refused["not_done"]) == ("needs_approval", "nothing was run")
    fan.run("config", "approve", cwd=group.repo)
    assert group.ask("verify")["command"] == "test -d demo"


def test_members_are_found_and_the_lost_are_told(fan: Fan, group: Group) -> None:
    """In a member's folder its group is meant; of two groups one must be named; a member without its folder is told
    and the others are compared."""
    assert fan.run("compare", cwd=group.paths[1] / "src").code == 0
    start(fan, group.repo, 1, "demo", "--name", "other", "x")
    refused = group.ask("compare", code=1)["error"]
    assert (refused["code"], STEM in refused["message"], "other" in refused["message"]) == ("ambiguous", True, True)
    assert group.ask("compare", "nothing", code=1)["error"]["code"] == "not_found"
    group.paths[1].rename(fan.folder / "away")
    first, second = group.ask("compare", STEM, code=5)["members"]
    assert (first["problem"], second["files"], second["commits"]) == ("", [], None)
    assert str(group.paths[1]) in second["problem"]
    found = group.verify(STEM, "--", "true", code=5)
    assert [one["status"] for one in found] == ["passed", "not_run"]
    for wrong in (["--jobs", "0"], ["--timeout", "0"]):
        assert group.ask("verify", *wrong, STEM, "--", "true", code=2)["error"]["code"] == "usage"


def test_differences_are_bytes_and_a_terminal_is_told_no_lies(fan: Fan, group: Group) -> None:
    """On a pipe a difference is git's, byte for byte and fit to apply; on a terminal what it would obey is visible;
    in JSON it is marked as an agent's words."""
    text = b"caf\xe9 \x1b[2J\r\n"
    (group.paths[1] / "new").write_bytes(text)
    call = [*PROGRAM, "diff", f"{STEM}:1", f"{STEM}:2"]
    patch = subprocess.run(call, cwd=group.repo, env=fan.env, capture_output=True, check=True).stdout
    assert b"+++ b/new\n@@ -0,0 +1 @@\n+" + text in patch
    subprocess.run(["git", "apply"], cwd=group.paths[0], env=fan.repos.environ, input=patch, check=True)
    assert (group.paths[0] / "new").read_bytes() == text
    assert fan.run(*call[len(PROGRAM) :], cwd=group.repo).out == ""
    found = json.loads(fan.run("worktree", "diff", STEM, "--json", cwd=group.repo).out)
    assert found["untrusted"] is True
    assert os.fsencode(found["text"]).endswith(b"+" + text)
    stat = fan.run("worktree", "diff", "--stat", STEM, cwd=group.repo).out
    assert stat.splitlines()[-1] == " 2 files changed, 6 insertions(+)"
    with open_terminal() as terminal:
        env = fan.env | {"TERM": "screen", "NO_COLOR": "1"}
        terminal.start([*PROGRAM, "worktree", "diff", STEM], cwd=group.repo, env=env)
        terminal.shows(r"+caf\xe9 \x1b[2J\x0d")
