"""A repository's setup, from `fan.toml` to the agent's start and its removal; the whole command."""

from __future__ import annotations

import os
import pty
import select
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan, Result
from tests.support.members import error, sessions, start, traces
from tests.support.puppets import Puppets
from tests.support.wait import eventually


def _asks(fan: Fan, text: str, *, approve: bool = True) -> Path:
    """A repository with this `fan.toml`."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {"fan.toml": text, ".gitignore": ".env\nbuild/\nnode_modules/\n"})
    if approve:
        done = fan.run("config", "approve", "--json", cwd=repo)
        assert (done.code, done.json["approved"]) == (0, True), done.out
    return repo


def _fan(fan: Fan, repo: Path, count: int = 1, *words: str) -> Result:
    return fan.run(str(count), "--agent", "puppet", "--json", *words, "Do it", cwd=repo)


def test_not_approved_and_nobody_to_ask_is_refused_before_anything_is_made(fan: Fan, puppets: Puppets) -> None:
    """The refusal shows what would run, names both ways on, and leaves nothing.

    Red when the approval is asked for after the group is on record.
    """
    repo = _asks(fan, 'setup = ["touch /tmp/never; echo \\u001b[2J"]', approve=False)
    before = traces(fan, repo)
    done = _fan(fan, repo)
    told = error(done.out)
    assert (done.code, told["code"]) == (1, "needs_approval")
    assert "run touch /tmp/never; echo \\x1b[2J" in told["message"]
    assert "config approve" in told["hint"]
    assert "--no-setup" in told["not_done"]
    assert traces(fan, repo) == before
    planned = _fan(fan, repo, 1, "--dry-run")
    assert planned.code == 0
    assert "has not been approved" in planned.err


def test_without_setup_nothing_of_it_is_done(fan: Fan, puppets: Puppets) -> None:
    """`--no-setup` needs no approval, copies and runs nothing, and no teardown comes later."""
    repo = _asks(fan, 'copy = [".env"]\nsetup = ["touch set-up"]\nteardown = ["touch $HOME/down"]\n', approve=False)
    fan.repos.write(repo, {".env": "KEY=1\n"})
    (row,) = start(fan, repo, 1, "puppet", "--no-setup", "Do it")
    assert not (Path(row["path"]) / ".env").exists()
    assert not (Path(row["path"]) / "set-up").exists()
    assert fan.run("rm", row["id"], cwd=repo).code == 0
    assert not (fan.repos.home / "down").exists()


def test_an_approval_is_for_exactly_what_was_shown(fan: Fan, puppets: Puppets) -> None:
    """Another command, one more file to copy or another `.worktreeinclude` asks again; a comment does not."""
    repo = _asks(fan, 'setup = ["true"]\n')
    approved = [_fan(fan, repo, 1, "--dry-run").err]
    fan.repos.write(repo, {"fan.toml": '# why\nsetup = ["true"]\n'})
    approved.append(_fan(fan, repo, 1, "--dry-run").err)
    assert not any("not been approved" in text for text in approved)
    for files in (
        {"fan.toml": 'setup = ["true "]\n'},
        {"fan.toml": 'setup = ["true"]\ncopy = [".env"]\n'},
        {"fan.toml": 'setup = ["true"]\n', ".worktreeinclude": ".env\n"},
    ):
        fan.repos.write(repo, files)
        assert error(_fan(fan, repo).out)["code"] == "needs_approval"


def test_config_shows_what_would_run_and_whether_it_may(fan: Fan) -> None:
    """`fan config` tells the setup's lines; `fan config approve` changes only whether they may run."""
    repo = _asks(fan, 'copy = [".env"]\nsetup = ["npm ci"]\ncheck = "npm test"\nports = 3\n', approve=False)
    setup = fan.run("config", "--json", cwd=repo).json["setup"]
    assert setup["approved"] is False
    assert setup["does"] == ["copy .env", "run npm ci", "lease 3 ports", "check with npm test"]
    assert "NOT approved; next: " in fan.run("config", cwd=repo).out
    assert fan.run("config", "approve", cwd=repo).code == 0
    assert fan.run("config", "--json", cwd=repo).json["setup"] == setup | {"approved": True}
    assert fan.run("config", "--json").json["setup"] is None


def test_no_member_approves_what_will_run_in_members(fan: Fan, puppets: Puppets) -> None:
    """From a member's environment an approval is refused, and nothing is approved."""
    repo = _asks(fan, 'setup = ["true"]', approve=False)
    done = fan.run("config", "approve", "--json", cwd=repo, env={"FAN_MEMBER": "abcd2345"})
    assert (done.code, error(done.out)["code"]) == (1, "not_allowed")
    assert fan.run("config", "--json", cwd=repo).json["setup"]["approved"] is False


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("fan.toml", "colour = 1", "colour"),
        ("fan.toml", "setup = 'npm ci'", "setup"),
        ("fan.toml", "copy = ['../secrets']", "../secrets"),
        ("fan.toml", "link = ['/etc/passwd']", "absolute"),
        ("fan.toml", "ports = -1", "ports"),
        ("fan.toml", "timeout = 0", "timeout"),
        ("fan.toml", "setup = [", "fan.toml"),
        ("pyproject.toml", "[tool.fan]\nsetup = 1", "pyproject.toml"),
        (".worktreeinclude", "..", ".worktreeinclude"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_by_name_and_key(fan: Fan, name: str, text: str, words: str) -> None:
    """Nothing is guessed at: file, key and reason are in the message, and nothing is made."""
    repo = fan.repos.repo()
    fan.repos.write(repo, {name: text})
    done = fan.run("2", "--agent", "demo", "--json", "Do it", cwd=repo)
    assert (done.code, error(done.out)["code"]) == (1, "bad_setting")
    assert words in error(done.out)["message"]
    assert error(done.out)["not_done"] == "nothing was made"


def test_commands_run_in_order_before_the_agent(fan: Fan, puppets: Puppets) -> None:
    """Each command runs in the worktree with the agent's environment; phase and output can be seen; the agent starts
    after the last.

    Red when the session is opened before the setup.
    """
    repo = _asks(fan, 'setup = ["echo one $FAN_MEMBER >> build-log", "date +%s.%N > done-at"]\n')
    done = _fan(fan, repo, 2)
    assert done.code == 0, done.err
    for row in done.json["members"]:
        path = Path(row["path"])
        assert (path / "build-log").read_text() == f"one {row['id']}\n"
        assert float((path / "done-at").read_text()) < puppets.started(row)["at"]
        assert f"{row['branch']}: setup: date +%s.%N > done-at" in done.err
        assert puppets.submitted(row) == [b"Do it"]
        log = fan.state / "members" / row["id"] / "setup.log"
        assert "$ echo one $FAN_MEMBER >> build-log\n" in log.read_text()
        assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_setup_may_stand_in_pyproject(fan: Fan, puppets: Puppets) -> None:
    """`[tool.fan]` is read where there is no `fan.toml`."""
    repo = fan.repos.repo()
    fan.repos.commit(repo, {"pyproject.toml": '[tool.fan]\nsetup = ["touch made"]\n'})
    assert fan.run("config", "approve", cwd=repo).code == 0
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    assert (Path(row["path"]) / "made").exists()


def test_a_setup_that_fails_stops_its_member_alone(fan: Fan, puppets: Puppets) -> None:
    """The failed one is told with command, exit code, last lines and log; its worktree stays, its agent is not
    started; the other one works."""
    repo = _asks(fan, 'setup = ["case $PWD in *-2) echo no luck; exit 7;; esac", "touch second"]\n')
    done = _fan(fan, repo, 2)
    assert done.code == 5, done.err
    well, failed = done.json["members"]
    assert (well["prompt_status"], failed["prompt_status"]) == ("sent", "not_sent")
    note = failed["prompt_note"]
    assert "ended with exit code 7" in note
    assert "no luck" in note
    assert "esac`" in note
    assert Path(note.rpartition(" ")[2]).read_text().endswith("no luck\n")
    assert not (Path(failed["path"]) / "second").exists()
    assert Path(failed["path"], "README.md").exists()
    assert sessions(fan) == [well["session"]]
    assert fan.run("rm", failed["id"], cwd=repo).code == 0
    assert not Path(failed["path"]).exists()


def test_a_command_that_hangs_is_ended_with_all_below_it(fan: Fan, puppets: Puppets) -> None:
    """After `timeout` seconds a command and its children are gone and the member has failed."""
    repo = _asks(fan, 'setup = ["sleep 611 & sleep 612"]\ntimeout = 0.5\n')
    done = _fan(fan, repo)
    assert done.code == 1
    assert "did not end within 0.5 seconds" in done.json["members"][0]["prompt_note"]
    assert not [one for one in fan.processes() if {"611", "612"} & set(one.cmdline())]


def test_ctrl_c_ends_a_setup_and_takes_its_worktree_back(fan: Fan, puppets: Puppets) -> None:
    """An interrupted setup leaves nothing: no branch, no folder, no process, and exit code 130."""
    repo = _asks(fan, 'setup = ["touch $HOME/begun; sleep 613"]\nports = 2\n')
    before = traces(fan, repo)
    command = [*PROGRAM, "2", "--agent", "puppet", "--json", "Do it"]
    with subprocess.Popen(command, cwd=repo, env=fan.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starting:
        eventually((fan.repos.home / "begun").exists, within=20)
        starting.send_signal(2)
        starting.communicate(timeout=30)
    assert starting.returncode == 130
    assert traces(fan, repo) == before
    assert not [one for one in fan.processes() if "613" in one.cmdline()]


def test_each_member_has_ports_of_its_own(fan: Fan, puppets: Puppets) -> None:
    """Ports are leased in ranges that are free and do not meet; setup and agent get the same; they are given back.

    Red when a port that somebody listens on is handed out.
    """
    repo = _asks(fan, 'ports = 5\nsetup = ["echo $FAN_PORT $FAN_PORT_COUNT > ports"]\n')
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        base = min(taken - 2, 65_000)
        fan.env["FAN_PORT_BASE"] = str(base)
        rows = start(fan, repo, 2, "puppet", "Do it")
        firsts = []
        for row in rows:
            env = puppets.started(row)["env"]
            assert (Path(row["path"]) / "ports").read_text() == f"{env['FAN_PORT']} 5\n"
            assert env["FAN_PORT_COUNT"] == "5"
            firsts.append(int(env["FAN_PORT"]))
        ports = [port for first in firsts for port in range(first, first + 5)]
        assert len(set(ports)) == 10
        assert taken not in ports
        assert fan.run("rm", rows[0]["id"], rows[1]["id"], cwd=repo).code == 0
        (again,) = start(fan, repo, 1, "puppet", "Do it")
        assert int(puppets.started(again)["env"]["FAN_PORT"]) == min(firsts)


def test_teardown_runs_before_the_folder_goes_and_cannot_lose_work(fan: Fan, puppets: Puppets) -> None:
    """A teardown sees the worktree as it was; what it deletes is in the archive all the same; its failure is told.

    Red when the teardown runs before the work is on record.
    """
    repo = _asks(fan, 'teardown = ["cat new.txt > $HOME/seen", "rm new.txt; echo gone wrong; exit 9"]\n')
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    fan.repos.write(Path(row["path"]), {"new.txt": "precious\n"})
    done = fan.run("rm", row["id"], "--json", cwd=repo)
    assert done.code == 0, done.out
    assert (fan.repos.home / "seen").read_text() == "precious\n"
    assert any("teardown failed" in note and "gone wrong" in note for note in done.json["notes"])
    (ref,) = fan.repos.git(repo, "for-each-ref", "--format=%(refname)", "refs/fan/archive/*/tree").split()
    assert fan.repos.git(repo, "show", f"{ref}:new.txt") == "precious"


def test_an_agent_cannot_slip_a_teardown_in(fan: Fan, puppets: Puppets) -> None:
    """Neither a changed `fan.toml` in the worktree nor a changed copy in the member's folder is ever run."""
    repo = _asks(fan, 'teardown = ["touch $HOME/meant"]\n')
    one, other = start(fan, repo, 2, "puppet", "Do it")
    fan.repos.write(Path(one["path"]), {"fan.toml": 'teardown = ["touch $HOME/evil"]\n'})
    saved = fan.state / "members" / other["id"] / "setup.json"
    saved.write_text(saved.read_text().replace("meant", "evil"))
    done = fan.run("rm", one["id"], other["id"], "--json", cwd=repo)
    assert done.code == 0, done.out
    assert any("not the one that was approved" in note for note in done.json["notes"])
    assert (fan.repos.home / "meant").exists()
    assert not (fan.repos.home / "evil").exists()


def _typed(fan: Fan, repo: Path, answer: bytes) -> tuple[int, str]:
    """The exit code, and what a person sees who starts this in a terminal and types `answer` at the question."""
    keyboard, screen = pty.openpty()
    command = [*PROGRAM, "1", "--agent", "puppet", "--detach", "Do it"]
    env = fan.env | {"NO_COLOR": "1"}
    with subprocess.Popen(
        command, cwd=repo, env=env, stdin=screen, stdout=subprocess.PIPE, stderr=screen, start_new_session=True
    ) as starting:
        os.close(screen)
        seen = b""
        while starting.poll() is None:
            if select.select([keyboard], [], [], 0.1)[0]:
                try:
                    seen += os.read(keyboard, 4096)
                except OSError:
                    break
            if b"[y/N]" in seen and answer:
                os.write(keyboard, answer)
                answer = b""
        starting.communicate(timeout=30)
    os.close(keyboard)
    return starting.returncode, seen.decode()


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_the_person_is_asked_once(fan: Fan, puppets: Puppets, answer: str) -> None:
    """The commands are shown and one letter agrees; any other answer, or none, makes nothing."""
    repo = _asks(fan, 'setup = ["touch made"]\n', approve=False)
    code, told = _typed(fan, repo, f"{answer}\n".encode())
    assert "run touch made" in told
    assert code == (0 if answer == "y" else 1), told
    assert list(fan.worktrees.glob("*/*/made")) != [] if answer == "y" else not fan.worktrees.exists()
    if answer == "y":
        assert "[y/N]" not in _typed(fan, repo, b"")[1]
