"""The tmux server killed at the worst moments."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, error, listed, recipe, sessions, start, tmux
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.repos import snapshot
from tests.support.tmux import alive
from tests.support.wait import eventually

SHIM = """#!/bin/sh
case "$*" in *kill-session*) kill -9 {server};; esac
exec {tmux} "$@"
"""


def _server(fan: Fan) -> int:
    return int(tmux(fan, "display-message", "-p", "#{pid}"))


def _kill_server(fan: Fan) -> None:
    """As a crash would: no hook of tmux runs, its panes are hung up on."""
    server = _server(fan)
    os.kill(server, signal.SIGKILL)
    eventually(lambda: not alive(server))


def _pending(fan: Fan, repo: Path, count: int) -> list[dict[str, Any]]:
    """Members whose prompts wait behind a trust question."""
    rows = start(fan, repo, count, "puppet:gate", "--detach", "Do it")
    for row in rows:
        becomes(fan, row, kind="trust")
    return rows


def test_while_prompts_are_pending(fan: Fan, puppets: Puppets) -> None:
    """The rows say `gone` and keep their prompt, `send` and its retry say that nothing was sent, the courier goes, a
    new run starts beside, and `rm` and `undo` work as ever.

    Red when a verb waits for a server that is away, or when what was pending is forgotten.
    """
    repo = fan.repos.repo()
    rows = _pending(fan, repo, 2)
    fan.repos.write(Path(rows[1]["path"]), {"new.txt": "n\n"})
    _kill_server(fan)
    eventually(lambda: not fan.processes(), within=15)
    for row in rows:
        now = listed(fan, repo)[row["id"]]
        assert (now["gone"], now["state"], now["prompt_status"], now["typed"]) == (True, "exited", "pending", "no")
    for words in (["send", rows[0]["id"], "More"], ["send", "--retry", rows[0]["id"]]):
        refused = fan.run(*words, "--json", cwd=repo, timeout=20)
        assert (refused.code, error(refused.out)["code"]) == (1, "target_gone"), refused.out
        assert error(refused.out)["not_done"] == "nothing was sent"
    assert not fan.processes()
    (new,) = start(fan, repo, 1, "puppet", "--name", "other", "Do that")
    puppets.takes(new, "Do that")
    before = snapshot(Path(rows[1]["path"]))
    assert fan.run("group", "rm", rows[0]["group"], cwd=repo).code == 0
    assert fan.run("undo", cwd=repo).code == 0
    assert snapshot(Path(rows[1]["path"])) == before
    assert [puppets.submitted(row) for row in rows] == [[], []]


def test_while_fan_n_waits(fan: Fan, puppets: Puppets) -> None:
    """`fan N`, with `--wait` too, ends within seconds and says that the prompts wait for the person.

    Red when `--wait` waits for a session that nobody brings back.
    """
    repo = fan.repos.repo()
    recipe(puppets, "mute", ("'^ready'", "'^never'"))
    remains = Remains(fan, repo)
    for number, more in enumerate(((), ("--wait",))):
        line = ["2", "--agent", "mute", "--json", "--name", f"g{number}", *more, "Do it"]
        with subprocess.Popen([*PROGRAM, *line], cwd=repo, env=fan.env, stdout=subprocess.PIPE, text=True) as waiting:
            try:
                eventually(lambda: len([one for one in remains.living() if one.pane]) == 2, within=40)
                _kill_server(fan)
                out, _ = waiting.communicate(timeout=20)
            finally:
                waiting.kill()
        assert waiting.returncode == 3, out
        assert f'"group": "g{number}"' in out
        assert out.count('"gone": true') == 2
        assert fan.run("group", "rm", f"g{number}", cwd=repo).code == 0
    assert remains.strays() == []


def test_in_the_middle_of_keep(fan: Fan, puppets: Puppets) -> None:
    """The server dies as the first loser's session is ended: all losers are removed all the same, the winner's
    folder stays, and their work comes back."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet", "Do it")
    for row in rows:
        fan.repos.write(Path(row["path"]), {"new.txt": row["id"]})
    before = [snapshot(Path(row["path"])) for row in rows]
    shim = fan.folder / "bin"
    shim.mkdir()
    (shim / "tmux").write_text(SHIM.format(server=_server(fan), tmux=shutil.which("tmux")))
    (shim / "tmux").chmod(0o755)
    path = os.pathsep.join([str(shim), fan.env["PATH"]])
    kept = fan.run("keep", rows[0]["id"], "--json", cwd=repo, env={"PATH": path}, timeout=30)
    assert (kept.code, len(kept.json["removed"]), kept.json["left"]) == (0, 2, []), kept.out
    assert sessions(fan) == []
    assert snapshot(Path(rows[0]["path"])) == before[0]
    assert list(listed(fan, repo)) == [rows[0]["id"]]
    assert fan.run("undo", cwd=repo).code == 0
    assert [snapshot(Path(row["path"])) for row in rows] == before
