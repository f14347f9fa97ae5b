"""`fan N --brief`: agents report back by mail, under the very name `fan`, and may run it without asking."""

from __future__ import annotations

import re
import subprocess
from functools import partial

import pytest

from fan.core.brief import BRIEF
from tests.support.cli import Fan
from tests.support.members import becomes, recipe, start, stop_tmux
from tests.support.puppets import Puppets, Row
from tests.support.wait import eventually

TASK = "Write down what is to be done."


@pytest.mark.timeout(180)
def test_three_agents_mail_their_results_and_these_outlast_the_group(fan: Fan) -> None:
    """Each demo agent under `--brief` mails what came of its task; the person reads three fenced messages that are
    stamped by their processes, and after `keep` and the end of the group they are still there.

    Red when the brief does not reach the prompt, when FAN_BIN does not work, or when mail to the person lies in the
    group's room.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "demo", "--brief", TASK)
    for row in rows:
        becomes(fan, row, turn="done", within=40)
    read = fan.run("mail", "read", "human", cwd=repo)
    told = re.findall(
        r"^message (\S+) from (fan/\S+) \(demo\) \(verified: process\) to human", read.out, re.MULTILINE
    )
    assert sorted(name for _, name in told) == [f"{rows[0]['group']}:{n}" for n in (1, 2, 3)]
    fence = (
        r"^--- from .*verified: process.*ends at (\w{8}) ---\nDone: wrote demo/NOTES-.* committed .*\n--- end \1 ---$"
    )
    assert len(re.findall(fence, read.out, re.MULTILINE)) == 3
    assert fan.run("keep", rows[1]["id"], cwd=repo).code == 0
    assert fan.run("group", "rm", rows[0]["group"], cwd=repo).code == 0
    again = fan.run("mail", "read", "human", "--json", cwd=repo).json["messages"]
    assert [one["id"] for one in again] == [name for name, _ in told]
    assert all(one["untrusted"] and one["body"].startswith("Done: ") for one in again)


def test_what_the_agent_is_told_and_may_run_is_printed_and_outlasts_a_resume(fan: Fan, puppets: Puppets) -> None:
    """The prompt comes with the brief before it, the command line with the recipe's `allow`, which the person is
    told in a line for each agent; a resumed one is launched with it again, one without `--brief` never.

    Red when resume forgets it, or when `allow` goes to agents that were not briefed.
    """
    recipe(puppets, "puppet", ('title = "', 'allow = ["--busy", "0.2"]\ntitle = "'))
    repo = fan.repos.repo()
    begun = fan.run("1", "--agent", "puppet", "--brief", "--json", TASK, cwd=repo)
    assert begun.code == 0, begun.err
    (row,) = begun.json["members"]
    assert row["branch"] == "fan/write-down-what-done"
    assert "Puppet may run without asking: --busy 0.2\n" in begun.err
    puppets.takes(row, BRIEF + TASK)
    (plain,) = start(fan, repo, 1, "puppet", "--name", "plain", TASK)
    puppets.takes(plain, TASK)
    stop_tmux(fan)
    assert fan.run("resume", cwd=repo).code == 0
    for one, wanted in ((row, ["--busy", "0.2"]), (plain, [])):
        eventually(partial(_is_started_again, puppets, one), within=15)
        assert [event["argv"][1:] for event in puppets.events(one, "start")] == [wanted, wanted]


@pytest.mark.timeout(180)
def test_a_member_that_was_made_alone_is_briefed_by_its_first_prompt(fan: Fan, puppets: Puppets) -> None:
    """`fan worktree new --brief` launches its agent with what it may run, tells the person, and types nothing. The
    brief stands before the first prompt that is sent; not before a question, and not before the second one.

    Red when the brief is typed as a prompt of its own, or before each of them.
    """
    recipe(puppets, "puppet", ('title = "', 'allow = ["--busy", "0.2"]\ntitle = "'))
    repo = fan.repos.repo()
    refused = fan.run("worktree", "new", "alone", "--brief", cwd=repo)
    assert (refused.code, refused.err.splitlines()[0]) == (2, "fan: --brief is for an agent")
    made = fan.run("worktree", "new", "alone", "--agent", "puppet", "--brief", "--json", cwd=repo)
    assert made.code == 0, made.err
    row = made.json["member"]
    assert "Puppet may run without asking: --busy 0.2\n" in made.err
    becomes(fan, row, state="rest")
    assert puppets.started(row)["argv"][1:] == ["--busy", "0.2"]
    assert puppets.submitted(row) == []
    assert fan.run("ask", row["id"], "Who are you?", cwd=repo).code == 0
    for text in (TASK, "Then this"):
        assert fan.run("send", row["id"], text, cwd=repo).code == 0
    puppets.takes(row, "Who are you?", BRIEF + TASK, "Then this")


def _is_started_again(puppets: Puppets, row: Row) -> bool:
    return len(puppets.events(row, "start")) == 2


def test_fan_is_there_by_name_and_by_variable(fan: Fan, puppets: Puppets) -> None:
    """In the agent's environment a plain shell finds `fan`; where a login shell sets PATH anew, "$FAN_BIN" runs it
    all the same. What it names as the next command begins with `fan`, which is what an agent may run.

    Red when the agent's PATH lacks our folder, or when the program calls itself `python -m fan`.
    """
    repo = fan.repos.repo()
    path = f"/usr/local/bin:/usr/bin:/bin:{fan.env['PATH']}"
    (row,) = start(fan, repo, 1, "puppet", "--env", f"PATH={path}", TASK)
    env = puppets.started(row)["env"]
    (fan.repos.home / ".bash_profile").write_text("PATH=/usr/bin:/bin\n")
    for shell, line in (("-c", "fan ls --group nothing"), ("-lc", '"$FAN_BIN" ls --group nothing')):
        done = subprocess.run(["bash", shell, line], cwd=repo, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "next: fan ls --all")
    assert subprocess.run(["bash", "-lc", "fan ls"], env=env, capture_output=True, check=False).returncode == 127
    assert env["PATH"].startswith(f"{fan.state}/bin:/usr/local/bin:")
