"""Short hands for tests of the whole command: start members, look at them, sit at their keyboards."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.support.cli import Fan
from tests.support.puppets import Puppets, Row
from tests.support.tmux import alive
from tests.support.wait import eventually


def start(
    fan: Fan, where: Path, count: int, agent: str, *words: str, code: int = 0, env: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The members of one `fan N --agent A ...`, which must end with `code`."""
    done = fan.run(str(count), "--agent", agent, "--json", *words, cwd=where, env=env)
    assert done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
    members: list[dict[str, Any]] = done.json["members"]
    return members


def listed(fan: Fan, where: Path, *words: str) -> dict[str, dict[str, Any]]:
    """The members' rows of `fan ls`, by id."""
    done = fan.run("ls", "--json", *words, cwd=where)
    assert done.code == 0, done.out
    return {row["id"]: row for row in done.json if row["managed"]}


def now(fan: Fan, row: Row) -> dict[str, Any]:
    """A member as `fan ls` shows it at this moment, without git's view."""
    return listed(fan, Path(row["repo"]), "--no-git")[row["id"]]


def becomes(fan: Fan, row: Row, *, within: float = 20.0, **wanted: object) -> dict[str, Any]:
    """Waits until `fan ls` shows a member with these values; its row."""
    last: dict[str, Any] = {}

    def is_so() -> bool:
        last.update(now(fan, row))
        return wanted.items() <= last.items()

    try:
        eventually(is_so, within=within, every=0.2)
    except AssertionError as late:
        raise AssertionError(f"it did not become {wanted}: {last}") from late
    return last


def tmux(fan: Fan, *words: str) -> str:
    """What tmux says on this `fan`'s own socket; empty when it refuses."""
    command = ["tmux", "-u", "-S", str(fan.runtime / "tmux"), "-f", "/dev/null", "-N", *words]
    done = subprocess.run(command, env=fan.env, capture_output=True, text=True, timeout=10, check=False)
    return done.stdout.removesuffix("\n")


def press(fan: Fan, row: Row, *keys: str) -> None:
    """Press keys in a member's pane, by their tmux names."""
    tmux(fan, "send-keys", "-t", row["pane"], *keys)


def write(fan: Fan, row: Row, text: str) -> None:
    """Type text in a member's pane."""
    tmux(fan, "send-keys", "-t", row["pane"], "-l", text)


def sessions(fan: Fan) -> list[str]:
    """The sessions of members that are there."""
    return [name for name in tmux(fan, "list-sessions", "-F", "#{session_name}").split() if name != "fan-courier"]


def traces(fan: Fan, repo: Path) -> dict[str, list[str]]:
    """All that a start could leave: branches, git's worktrees, folders, sessions, records."""
    folders = [path for path in fan.worktrees.glob("*/*") if path.is_dir() and ".trash" not in path.parts]
    return {
        "branches": fan.repos.git(repo, "branch", "--format=%(refname)").split(),
        "worktrees": fan.repos.git(repo, "worktree", "list", "--porcelain").splitlines(),
        "folders": sorted(map(str, folders)),
        "sessions": sessions(fan),
        "records": sorted(listed(fan, repo, "--all", "--no-git")),
    }


def cycle(fan: Fan, puppets: Puppets, where: Path, *words: str, env: Mapping[str, str] | None = None) -> list[Row]:
    """Two are started, listed and told something each, the first is kept. Every step must do all of its work."""
    rows = start(fan, where, 2, "puppet", *words, "Do it", env=env)
    for row in rows:
        assert os.fsencode(puppets.started(row)["cwd"]) == os.fsencode(row["path"])
    shown = fan.run("ls", "--json", cwd=where, env=env)
    assert [(row["id"], row["gone"]) for row in shown.json if row["managed"]] == [(row["id"], False) for row in rows]
    for row in rows:
        sent = fan.run("send", row["session"], "Then é this;", cwd=where, env=env)
        assert sent.code == 0, sent.err
        puppets.takes(row, "Do it", "Then é this;")
    kept = fan.run("keep", rows[0]["branch"], "--json", cwd=where, env=env)
    assert (kept.code, len(kept.json["removed"]), kept.json["left"]) == (0, 1, []), kept.out
    assert sessions(fan) == [rows[0]["session"]]
    assert (Path(rows[0]["path"]).is_dir(), Path(rows[1]["path"]).exists()) == (True, False)
    return list(rows)


@contextmanager
def own_tmux(fan: Fan, settings: str) -> Iterator[dict[str, str]]:
    """The person's own tmux server with these settings and one paste buffer; the variables of a shell inside it."""
    file, socket = fan.repos.home / ".tmux.conf", fan.folder / "own"
    file.write_text(settings)
    call = ["tmux", "-u", "-S", str(socket), "-f", str(file)]

    def ask(*words: str) -> str:
        done = subprocess.run([*call, *words], env=fan.repos.environ, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    ask("new-session", "-d", "-s", "mine", "-x", "80", "-y", "24", "sleep 600")
    ask("set-buffer", "-b", "mine", "what I copied")
    before = ask("show-options", "-g"), ask("show-environment", "-g"), ask("list-windows", "-a")
    try:
        yield {"TMUX": f"{socket},{ask('display-message', '-p', '#{pid}')},0", "TMUX_PANE": "%0"}
        after = ask("show-options", "-g"), ask("show-environment", "-g"), ask("list-windows", "-a")
        assert after == before, "the person's own tmux server was changed"
        assert ask("show-buffer", "-b", "mine") == "what I copied"
        assert file.read_text() == settings
    finally:
        ask("kill-server")


def recipe(puppets: Puppets, name: str, *changes: tuple[str, str], more: str = "") -> None:
    """A recipe `name` that is the puppet's but for some texts, and `more` at its end."""
    text = (puppets.recipes / "puppet.toml").read_text().replace('name = "puppet"', f'name = "{name}"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (puppets.recipes / f"{name}.toml").write_text(f"{text}\n{more}\n")


def error(text: str) -> dict[str, str]:
    """The error object that a refused verb printed."""
    told: dict[str, str] = json.loads(text)["error"]
    return told


def courier(fan: Fan) -> int:
    """The process of the courier, as the store knows it; it starts beside what needed it."""
    with sqlite3.connect(f"file:{fan.state / 'fan.sqlite3'}?mode=ro", uri=True) as store:
        eventually(lambda: store.execute("SELECT pid FROM courier").fetchall(), within=10)
        return int(store.execute("SELECT pid FROM courier").fetchone()[0])


def stop_courier(fan: Fan) -> int:
    """Kill the courier as a crash would; its process id."""
    pid = courier(fan)
    psutil.Process(pid).kill()
    eventually(lambda: not alive(pid))
    return pid


def stop_tmux(fan: Fan) -> None:
    """End this `fan`'s tmux server, by its own socket, with all that runs in it."""
    panes = [int(pid) for pid in tmux(fan, "list-panes", "-a", "-F", "#{pane_pid}").split()]
    tmux(fan, "kill-server")
    eventually(lambda: not any(alive(pid) for pid in panes), within=10)
