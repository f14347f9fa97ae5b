"""Field cases: tmux servers and settings of the person's, processes, open doors."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.support.calls import TmuxCalls
from tests.support.cli import PROGRAM, Fan
from tests.support.members import courier, cycle, listed, own_tmux, start, tmux
from tests.support.puppets import Puppets
from tests.support.wait import window

NUMBERS = "set -g base-index 1\nsetw -g pane-base-index 1\nset -g renumber-windows on\nset -g prefix2 C-q\n"
HOOKS = (
    "set-hook -g after-new-window 'command-prompt -p name: \"rename-window %%\"'\n"
    "set-hook -g after-new-session 'rename-session mine-#{session_id}'\n"
    "set -g mouse on\nset -g buffer-limit 1\n"
)


@pytest.mark.field("B054")
def test_b054_windows_and_panes_numbered_from_one(fan: Fan, puppets: Puppets) -> None:
    """Inside the person's own tmux with indexes from 1 and a second prefix the whole cycle works, and that server
    is as it was."""
    with own_tmux(fan, NUMBERS) as inside:
        cycle(fan, puppets, fan.repos.repo(), env=inside)


@pytest.mark.field("B055")
def test_b055_settings_that_react_to_new_windows(fan: Fan, puppets: Puppets) -> None:
    """With hooks that rename sessions and open prompts the whole cycle works; the person's paste buffers are there
    afterwards, and none of ours is left."""
    with own_tmux(fan, HOOKS) as inside:
        cycle(fan, puppets, fan.repos.repo(), env=inside)
        assert tmux(fan, "list-buffers") == ""


@pytest.mark.field("B057")
def test_b057_agents_get_the_callers_environment(fan: Fan, puppets: Puppets) -> None:
    """A server that was started with an outer agent's marker and without the key hands on neither: the second call's
    agents see that call's key, and its PATH behind our own program; no argument list and no global environment holds
    the key.

    Red when sessions take the server's environment.
    """
    repo = fan.repos.repo()
    start(fan, repo, 1, "puppet", "Do it", env={"OUTER_AGENT": "1"})
    server = tmux(fan, "show-environment", "-g")
    key, path = "sk-not-a-real-one", f"{fan.folder}/nothing:{fan.env['PATH']}"
    rows = start(fan, repo, 2, "puppet:needs-key", "Do that", env={"DEMO_KEY": key, "PATH": path})
    for row in rows:
        seen = puppets.started(row)["env"]
        assert (seen["DEMO_KEY"], seen["PATH"], "OUTER_AGENT" in seen) == (key, f"{fan.state}/bin:{path}", False)
    assert tmux(fan, "show-environment", "-g") == server
    assert key not in server
    assert not [one for one in fan.processes() if key in " ".join(one.cmdline())]


@pytest.mark.field("B069")
def test_b069_forty_at_rest_cost_next_to_nothing(fan: Fan, puppets: Puppets) -> None:
    """With forty agents at rest one list takes as many tmux calls as with one, watching takes hardly any, and the
    courier uses a few percent of a core.

    Red when the courier asks tmux about each pane by a process of its own.
    """
    calls = TmuxCalls(fan)
    fan.env["PATH"] = calls.path
    repo = fan.repos.repo()
    (one,) = start(fan, repo, 1, "puppet", "--name", "alone", "Do it")
    before = calls.count()
    listed(fan, repo)
    for_one = calls.count() - before
    rows = start(fan, repo, 39, "puppet", "--name", "many", "--wait", "Do it")
    assert {row["prompt_status"] for row in rows} == {"sent"}
    window(3)
    before, process = calls.count(), psutil.Process(courier(fan))
    used = sum(process.cpu_times()[:2])
    window(5)
    assert calls.count() - before <= 2
    assert sum(process.cpu_times()[:2]) - used < 5 * 0.10
    before, begun = calls.count(), time.monotonic()
    shown = listed(fan, repo)
    assert time.monotonic() - begun < 10
    assert calls.count() - before <= for_one + 1, "more than the courier's own of every five seconds"
    assert [row["state"] for row in shown.values()] == ["rest"] * 40
    assert one["id"] in shown


@pytest.mark.field("B071")
def test_b071_checkouts_that_do_not_fit_are_refused(fan: Fan, puppets: Puppets) -> None:
    """Where checkouts of together 300 MB do not fit beside what must stay free, five are refused before anything is
    made, and one is not.

    Red when only the size of one checkout is looked at.
    """
    repo = fan.repos.repo()
    with (repo / "big.bin").open("wb") as file:
        file.truncate(60 * 1024 * 1024)
    fan.repos.git(repo, "add", "big.bin")
    fan.repos.git(repo, "commit", "--quiet", "-m", "Big")
    info = os.statvfs(fan.folder)
    free = info.f_bavail * info.f_frsize >> 20
    env = {"FAN_MIN_FREE_MB": str(free - 200)}
    done = fan.run("5", "--agent", "puppet", "--json", "Do it", cwd=repo, env=env)
    assert (done.code, done.json["error"]["code"]) == (1, "disk_failed")
    assert "5 checkouts do not fit, with about 60 MB each" in done.json["error"]["message"]
    assert listed(fan, repo) == {}
    assert not list(fan.worktrees.glob("*/*"))
    assert fan.run("1", "--agent", "puppet", "--dry-run", "Do it", cwd=repo, env=env).code == 0


@pytest.mark.field("B072")
def test_b072_names_and_prompts_are_never_run(fan: Fan, puppets: Puppets) -> None:
    """Substitutions in folder, group, branch and prompt create no file; the prompt arrives byte for byte."""
    repo = fan.repos.repo("$(touch told1) #(touch told2)")
    fan.repos.git(repo, "branch", "`touch${IFS}told3`")
    prompt = "$(touch told4) `touch told5` #(touch told6) #{pane_id} %1 $HOME; touch told7"
    names = ("--name", "x;touch${IFS}told8;#{pid}", "--base", "`touch${IFS}told3`")
    rows = start(fan, repo, 2, "puppet", *names, "--", prompt)
    for row in rows:
        puppets.takes(row, prompt)
        assert row["branch"].startswith("x;touch${IFS}told8;#{pid}")
        assert fan.run("send", row["session"], "--", prompt, cwd=repo).code == 0
        puppets.takes(row, prompt, prompt)
    assert fan.run("keep", rows[0]["branch"], cwd=repo).code == 0
    assert not list(fan.folder.rglob("told[0-9]"))
    assert not [place for place in (Path("/"), Path.cwd()) if list(place.glob("told[0-9]"))]


@pytest.mark.field("B074")
def test_b074_nothing_of_ours_is_open_to_others(fan: Fan, puppets: Puppets) -> None:
    """Under umask 0 nobody else gets to a file of ours, no argument list holds prompt or key, no temporary file is
    left and no port is open.

    Red when a folder of ours is made with the mode that the umask allows.
    """
    repo, scratch = fan.repos.repo(), fan.folder / "tmp"
    scratch.mkdir()
    fan.env["TMPDIR"] = str(scratch)
    secret = "sk-fake-0123456789abcdef"
    command = ["sh", "-c", 'umask 0; exec "$@"', "sh", *PROGRAM]
    words = ["2", "--agent", "puppet", "--json", f"Use {secret}"]
    subprocess.run([*command, *words], cwd=repo, env=fan.env, capture_output=True, check=True)
    rows = listed(fan, repo)
    send = ["send", next(iter(rows)), f"Again {secret}"]
    subprocess.run([*command, *send], cwd=repo, env=fan.env, capture_output=True, check=True)
    puppets.takes(rows[send[1]], f"Use {secret}", f"Again {secret}")
    for to in ("human", next(iter(rows))):
        mail = [*command, "mail", "send", to, "-"]
        subprocess.run(mail, cwd=repo, env=fan.env, input=secret.encode(), capture_output=True, check=True)
    assert secret not in "".join(log.read_text() for log in (fan.state / "logs").iterdir())
    reached = [place for top in (fan.state, fan.runtime, fan.worktrees) for place in _open_to_others(top)]
    assert not [place for place in reached if not place.is_dir()]
    for process in fan.processes():
        assert secret not in " ".join(process.cmdline())
        assert not [one for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
    assert not list(scratch.iterdir())


def _open_to_others(top: Path) -> list[Path]:
    """What others get to below `top`: nothing behind a folder that they may not enter."""
    if not stat.S_IMODE(top.lstat().st_mode) & 0o077:
        return []
    inside = sorted(top.iterdir()) if top.is_dir() and not top.is_symlink() else []
    return [top, *(found for place in inside for found in _open_to_others(place))]
