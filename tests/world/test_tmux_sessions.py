"""Opening and ending sessions on a real tmux server."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fan.errors import AlreadyExists, DiskFailed, NotAllowed, TmuxFailed, TooLarge, ToolMissing
from fan.world.tmux import Tmux
from fan.world.tmux.server import checked_version
from tests.support.tmux import Ground, alive, terminal
from tests.support.wait import eventually

ENV_OF_TMUX = {"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "PWD", "FAN_PANE"}


def environment_of(ground: Ground, env: dict[str, str], name: str) -> dict[str, str]:
    """What a program started with `env` finds around it."""
    out = ground.folder / f"{name}.env"
    script = f"env -0 > {out}.part; mv {out}.part {out}; exec cat"
    ground.open("sh", "-c", script, name=name, env={"PATH": os.environ["PATH"], **env})
    eventually(out.exists)
    found = dict(pair.split("=", 1) for pair in out.read_bytes().decode().split("\0") if pair)
    return {key: value for key, value in found.items() if key not in ("_", "SHLVL", "OLDPWD")}


def test_the_program_is_the_panes_process(ground: Ground) -> None:
    """The pane's pid is the program itself, executed without a shell line; the pane knows its launch."""
    pane = ground.open("cat", "-", "it's; $HOME", name="plain")
    eventually(lambda: ground.pane(pane).command == "cat")
    assert psutil.Process(pane.pid).cmdline() == ["cat", "-", "it's; $HOME"]
    assert (pane.session, pane.launch) == ("plain", "launch-1")
    assert (pane.size, pane.dead, ground.clients(pane)) == ((220, 50), False, 0)


def test_arguments_arrive_as_they_are(ground: Ground) -> None:
    """Words that tmux or a shell could read as something else reach the program unchanged."""
    odd = [
        ";",
        "a;",
        "\\;",
        "a\\",
        "#{pid}",
        "#(touch tell)",
        "$(touch tell)",
        "-x",
        "{",
        "}",
        "",
        "ü ✳",
        "~",
        "two\nlines",
    ]
    out = ground.folder / "words"
    ground.open("sh", "-c", f'printf "%s\\0" "$@" > {out}; exec cat', "x", *odd)
    eventually(lambda: out.exists() and out.read_bytes().endswith(b"\0"))
    assert out.read_bytes().decode().split("\0")[:-1] == odd
    assert not list(ground.folder.rglob("tell"))


def test_the_environment_is_exactly_the_given_one(ground: Ground) -> None:
    """Beyond what tmux itself says of the terminal, nothing but the given names and values arrives."""
    given = {"KEY": "a 'b' \"c\" $d; #{pid}\nü", "EMPTY": "", "SHELL": "/bin/bash", "HOME": "/nowhere"}
    found = environment_of(ground, {**given, "TMUX": "x,1,2", "TMUX_PANE": "%9"}, "first")
    found.pop("PATH")
    pane = found["FAN_PANE"]
    assert {name: value for name, value in found.items() if name not in ENV_OF_TMUX} == given
    assert pane == ground.tmux.panes()[0].id


@pytest.mark.field("B057")
def test_an_old_server_hands_nothing_stale_on(ground: Ground) -> None:
    """A later session sees its own caller's values, and no name that only an earlier caller had.

    Fails when names that the caller lacks are not taken out of what the server remembers.
    """
    environment_of(ground, {"MARK": "outer", "KEY": "old", "HOME": "/one"}, "first")
    found = environment_of(ground, {"KEY": "new"}, "second")
    assert (found["KEY"], "MARK" in found, "HOME" in found) == ("new", False, False)


@pytest.mark.field("B057")
def test_no_secret_is_in_an_argument_list(ground: Ground) -> None:
    """A value of the environment shows in no process's arguments and not in what the server keeps for all."""
    secret = "s3cret-value-of-a-key"
    environment_of(ground, {"DEMO_KEY": secret}, "first")
    lists = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert any("tmux" in arguments for arguments in lists)
    assert not any(secret in arguments for arguments in lists)
    assert secret not in ground.raw("show-environment", "-g")


def test_a_value_that_tmux_would_drop_is_refused(ground: Ground) -> None:
    """A variable above the size of tmux's messages is named instead of lost in silence."""
    with pytest.raises(TooLarge, match="BIG"):
        ground.open(env={**ground.environ, "BIG": "x" * 17_000})
    assert ground.tmux.panes() == []


@pytest.mark.field("B072")
@pytest.mark.parametrize(
    "folder",
    [
        "My Project ü [x] 'q' $(touch tell)",
        "#{pid} #(touch tell) ##",
        "`touch tell`;",
        "a:b.c",
        '"; touch tell',
        "-x",
    ],
)
def test_odd_folders_are_only_folders(ground: Ground, folder: str) -> None:
    """A folder's name is never run or expanded, and the program starts in exactly that folder."""
    place = ground.folder / folder
    place.mkdir()
    pane = ground.open(name="odd", cwd=place)
    eventually(lambda: ground.pane(pane).command == "cat")
    assert Path(psutil.Process(pane.pid).cwd()) == place
    assert not list(ground.folder.rglob("tell"))


@pytest.mark.field("B008")
@pytest.mark.field("B072")
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("site.example.org-v1.2:b", "site-example-org-v1-2-b"),
        ("a[1]; touch tell", "a-1-touch-tell"),
        ("#(touch tell)#{pid}", "-touch-tell-pid-"),
        ("=$1:%2", "-1-2"),
        ("über_ö", "über_ö"),
    ],
)
def test_session_names_are_found_again(ground: Ground, name: str, kept: str) -> None:
    """Whatever is asked for, the name that comes back is the session's, and to ask for it again is refused."""
    pane = ground.open(name=name)
    assert pane.session == kept
    assert ground.has_session(kept)
    with pytest.raises(AlreadyExists):
        ground.open(name=name)
    ground.tmux.end_session(pane.session_id)
    assert not ground.has_session(kept)
    assert not list(ground.folder.rglob("tell"))


def test_a_folder_that_is_not_there_is_refused(ground: Ground) -> None:
    """tmux would quietly start in the home folder; here nothing is opened."""
    with pytest.raises(TmuxFailed, match="not there"):
        ground.open(cwd=ground.folder / "none")
    assert ground.tmux.panes() == []


def test_short_lived_programs_keep_their_last_words(ground: Ground) -> None:
    """Ten programs that end soon: ten panes stay, with their exit codes and all that tmux had read of them.

    Fails when remain-on-exit is set in a command of its own after the session's.
    """
    # tmux drops what a program printed in the very moment of its end.
    opened = [ground.open("sh", "-c", f"echo bye {n}; sleep 0.1; exit {n}", name=f"short-{n}") for n in range(10)]
    eventually(lambda: [ground.pane(pane).exit_status for pane in opened] == list(range(10)))
    for n, look in enumerate(ground.tmux.looks([pane.id for pane in opened], 5.0).values()):
        assert look.pane.dead
        assert look.at == 5.0
        assert [line.text for line in look.lines if line.text] == [f"bye {n}", f"the agent has exited with code {n}"]


def test_no_end_is_missed(ground: Ground) -> None:
    """Programs that end at once, while other sessions are opened, all come to have an exit code.

    Fails now and then when tmux is not made to collect the ends that it did not hear.
    """
    opened = [ground.open("sh", "-c", f"exit {n}", name=f"short-{n}") for n in range(60)]
    eventually(lambda: [ground.pane(pane).exit_status for pane in opened] == list(range(60)))


def test_a_program_ended_by_a_signal_has_a_status(ground: Ground) -> None:
    """A signal reads as 128 and its number, as shells say it."""
    pane = ground.open("sleep", "1000")
    eventually(lambda: ground.pane(pane).command == "sleep")
    os.kill(pane.pid, 9)
    eventually(lambda: ground.pane(pane).dead)
    eventually(lambda: ground.pane(pane).exit_status == 137)


def test_a_program_that_is_missing_says_so(ground: Ground) -> None:
    """An agent that is not on PATH leaves a dead pane with the code 127, not a shell."""
    pane = ground.open("no-such-agent")
    eventually(lambda: ground.pane(pane).exit_status == 127)


@pytest.mark.field("B054")
@pytest.mark.field("B055")
def test_the_persons_settings_do_not_matter(ground: Ground) -> None:
    """Base indexes, hooks and renames of the person's own file neither act here nor are changed."""
    settings = ground.home / ".tmux.conf"
    settings.write_text(
        "set -g base-index 1\nset -wg pane-base-index 1\nset -g renumber-windows on\nset -g prefix2 C-a\n"
        "set-hook -g after-new-session 'rename-session stolen'\nset-hook -g after-new-window 'command-prompt'\n"
        "set -g buffer-limit 1\nset -g default-command false\n"
    )
    before = settings.read_bytes()
    pane = ground.open(name="mine")
    assert pane.session == "mine"
    assert ground.raw("display-message", "-p", "-t", pane.id, "#{window_index}.#{pane_index}") == "0.0"
    assert ground.raw("show-options", "-gv", "prefix2") == "None"
    assert settings.read_bytes() == before


@pytest.mark.field("B040")
def test_no_locale_is_needed(ground: Ground) -> None:
    """With every locale variable unset, titles, screens and session names keep their symbols."""
    script = "printf '\\033]2;✳ tïtle\\007◐ ✽ ok'; exec cat"
    pane = ground.open("sh", "-c", script, name="bränch-ветка", env={"PATH": os.environ["PATH"]})
    assert pane.session == "bränch-ветка"
    eventually(lambda: ground.pane(pane).title == "✳ tïtle")
    assert ground.text(pane) == "◐ ✽ ok"


def test_a_held_program_starts_at_its_release(ground: Ground) -> None:
    """A held agent is not there before the release, is the same process after it, and gets no earlier key."""
    fifo = ground.folder / "held"
    log = ground.folder / "typed"
    pane = ground.open("sh", "-c", f"exec cat > {log}", held=fifo)
    eventually(lambda: "first agent's trust question" in ground.text(pane))
    assert not log.exists()
    ground.raw("send-keys", "-t", pane.id, "1", "Enter")
    assert ground.tmux.release(fifo)
    eventually(log.exists)
    assert ground.pane(pane).pid == pane.pid
    ground.raw("send-keys", "-t", pane.id, "2", "Enter")
    eventually(lambda: log.read_bytes() == b"2\n")
    assert not ground.tmux.release(fifo)


def test_the_release_of_nobody_is_told(ground: Ground) -> None:
    """A fifo at which nobody waits any more is not written to, and one in the way is refused."""
    fifo = ground.folder / "held"
    pane = ground.open(held=fifo)
    ground.tmux.end_session(pane.session_id)
    eventually(lambda: not alive(pane.pid))
    assert not ground.tmux.release(fifo)
    with pytest.raises(DiskFailed, match="held"):
        ground.open(name="two", held=fifo)
    assert not ground.has_session("two")


def test_a_refused_session_leaves_no_fifo(ground: Ground) -> None:
    """The fifo of a session that was not opened is taken away again."""
    ground.open(name="taken")
    with pytest.raises(AlreadyExists):
        ground.open(name="taken", held=ground.folder / "held")
    assert not (ground.folder / "held").exists()


@pytest.mark.parametrize("how", ["detach", "crash"])
def test_a_detached_window_is_pinned(ground: Ground, how: str) -> None:
    """The window follows a person's small terminal and is 220x50 again however that terminal goes."""
    pane = ground.open()
    with terminal(ground.tmux.attach_argv(pane.session_id), ground.environ, width=60, height=20) as shown:
        eventually(lambda: ground.pane(pane).size == (60, 19))
        assert ground.clients(pane) == 1
        if how == "detach":
            shown.type(b"\x02d")
            eventually(shown.ended)
    eventually(lambda: ground.pane(pane).size == (220, 50))
    assert ground.clients(pane) == 0


def test_a_window_left_for_another_is_pinned(ground: Ground) -> None:
    """Somebody who switches to another of our sessions leaves the first one at its size, too."""
    first, second = ground.open(name="first"), ground.open(name="second")
    with terminal(ground.tmux.attach_argv(first.session_id), ground.environ, width=70, height=30):
        eventually(lambda: ground.pane(first).size == (70, 29))
        ground.raw("switch-client", "-t", second.session_id)
        eventually(lambda: ground.pane(second).size == (70, 29))
        eventually(lambda: ground.pane(first).size == (220, 50))


def test_only_members_are_listed(ground: Ground) -> None:
    """The courier's session, a person's own and split panes are not among the agents' panes."""
    pane = ground.open()
    ground.raw("split-window", "-d", "-t", pane.id, "cat")
    ground.raw("new-session", "-d", "-s", "own", "cat")
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    assert [found.id for found in ground.tmux.panes()] == [pane.id]


def test_one_courier_which_leaves_nothing(ground: Ground) -> None:
    """A second courier is refused while the first lives; its session goes when it ends, with no dead pane."""
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    with pytest.raises(AlreadyExists):
        ground.tmux.start_courier(["sleep", "1000"], ground.environ)
    ground.open()
    os.kill(int(ground.raw("display-message", "-p", "-t", "=fan-courier:", "#{pane_pid}")), 9)
    eventually(lambda: not ground.has_session("fan-courier"))
    ground.tmux.start_courier(["sleep", "1000"], ground.environ)


def test_the_server_stands_apart(ground: Ground) -> None:
    """The server keeps no folder of ours busy, knows of our environment only two names, and its folder is private."""
    ground.open(env={**ground.environ, "KEY": "value"})
    server = psutil.Process(ground.server_pid())
    assert server.cwd() == "/"
    assert "KEY" not in server.environ()
    assert stat.S_IMODE(ground.socket.parent.stat().st_mode) == 0o700


def test_a_folder_open_to_others_is_closed(ground: Ground) -> None:
    """Ours, and others may look into it: it is closed before a server starts there, as every folder of ours."""
    ground.socket.parent.mkdir(mode=0o755)
    ground.open()
    assert stat.S_IMODE(ground.socket.parent.stat().st_mode) == 0o700


def test_a_folder_that_is_none_of_ours_is_refused(ground: Ground) -> None:
    """A socket behind a link could be anybody's: no server is started there."""
    elsewhere = ground.folder / "elsewhere"
    elsewhere.mkdir()
    ground.socket.parent.symlink_to(elsewhere)
    with pytest.raises(NotAllowed):
        ground.open()
    assert ground.server_pid() == 0


def test_the_server_ends_with_its_last_session(ground: Ground) -> None:
    """Nothing is left running once the last session was ended; ending it again is no error."""
    pane = ground.open()
    server = ground.server_pid()
    ground.tmux.end_session(pane.session_id)
    eventually(lambda: not alive(server) and not alive(pane.pid))
    ground.tmux.end_session(pane.session_id)
    ground.open(name="again")


def test_many_start_one_server(ground: Ground) -> None:
    """Sessions opened at once by several processes, with no server yet, all come up on one."""
    script = (
        "import sys; from pathlib import Path; from fan.world.tmux import Tmux;"
        "env = {'PATH': sys.argv[3], 'NAME': sys.argv[2]};"
        "Tmux(Path(sys.argv[1]), env).open_session(sys.argv[2], Path('/'), ['cat'], env,"
        " member=sys.argv[2], launch='', group='')"
    )
    command = [sys.executable, "-c", script, str(ground.socket)]
    jobs = [subprocess.Popen([*command, f"m{n}", os.environ["PATH"]]) for n in range(6)]
    assert [job.wait(30) for job in jobs] == [0] * 6
    assert {pane.session for pane in ground.tmux.panes()} == {f"m{n}" for n in range(6)}


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("tmux 3.3a\n", (3, 3)),
        ("tmux 3.2", (3, 2)),
        ("tmux next-3.6", (3, 6)),
        ("tmux openbsd-7.4", (7, 4)),
        ("tmux master", (99, 0)),
    ],
)
def test_versions_are_read(said: str, version: tuple[int, int]) -> None:
    """Every form of version that tmux prints is understood."""
    assert checked_version(said) == version


def test_an_old_or_missing_tmux_is_named(ground: Ground) -> None:
    """Too old and not there are refused with the command that helps."""
    with pytest.raises(ToolMissing, match=r"tmux 3\.1c is too old: fan needs 3\.2"):
        checked_version("tmux 3.1c\n")
    with pytest.raises(ToolMissing, match="not found") as missing:
        Tmux(ground.socket, {"PATH": str(ground.home)}).panes()
    assert "install tmux" in missing.value.hint
    assert ground.tmux.version() >= (3, 2)


def test_a_long_socket_path_is_refused() -> None:
    """A path that tmux could not bind is refused by name, with the setting that helps."""
    with pytest.raises(TmuxFailed, match="longer") as refused:
        Tmux(Path("/tmp") / ("x" * 100) / "s", {})
    assert "FAN_RUNTIME_DIR" in refused.value.hint
