"""What waits for the person: alerts that close by themselves, the badge, the bell, `fan ls --waiting`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import world_of
from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, listed, press, recipe, start, stop_tmux, tmux
from tests.support.puppets import Puppets
from tests.support.tmux import terminal
from tests.support.wait import eventually


def inbox(fan: Fan, where: Path, *words: str) -> list[dict[str, Any]]:
    """The person's messages."""
    found: list[dict[str, Any]] = fan.run("mail", "read", "human", "--peek", "--json", *words, cwd=where).json[
        "messages"
    ]
    return found


def badge(fan: Fan) -> str:
    """What the status lines say."""
    return tmux(fan, "show-options", "-gv", "@fan_waiting")


@pytest.mark.timeout(180)
def test_a_question_is_an_alert_until_it_is_answered(fan: Fan, puppets: Puppets) -> None:
    """Permission asked: one alert with the next command, stamped as ours, counted in the status line, the bell rung
    in the terminal that shows a session. It is still the only one after it was read, and closes, with the badge,
    once the person has answered in the pane.

    Red when each courier opens its own, when reading closes it, or when an answer leaves it open.
    """
    (fan.config / "config.toml").write_text('notify = "bell, desktop"\n')
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet:permission", "--name", "fan/x", "Do it")
    with terminal([*PROGRAM, "attach", row["id"]], fan.env | {"TERM": "screen"}) as shown:
        eventually(lambda: inbox(fan, repo), within=15)
        eventually(lambda: b"\a" in shown.seen, within=10)
        eventually(lambda: b"1 for you: fan ls --waiting" in shown.seen, within=10)
    (alert,) = inbox(fan, repo)
    assert alert["body"] == f"fan/x:1 (puppet) asks for permission; fan attach {row['id']}"
    assert (alert["kind"], alert["author"], alert["verified"]) == ("alert", "fan", "process")
    assert badge(fan) == "1"
    assert f" -m fan attach {row['id']}\n" in fan.run("mail", "read", "human", cwd=repo).out
    waiting = fan.run("ls", "--waiting", cwd=repo)
    assert (row["id"] in waiting.out, waiting.err) == (True, "")
    assert [one["id"] for one in inbox(fan, repo)] == [alert["id"]]
    assert "no desktop notices" in (fan.state / "logs" / "courier.log").read_text()
    press(fan, row, "Enter")
    eventually(lambda: inbox(fan, repo) == [], within=10)
    eventually(lambda: badge(fan) == "0", within=10)
    assert listed(fan, repo, "--waiting") == {}


@pytest.mark.timeout(180)
def test_the_words_of_a_dialog_are_masked_wherever_they_are_shown(fan: Fan, puppets: Puppets) -> None:
    """`ls`, `ls --waiting`, `wait`, `why` and the alert, each plain and as JSON: no secret, nor the half of one that
    the recipe cuts off.

    Red when any of them shows the words as they stand on the screen.
    """
    asks = "match = ['May I run it\\?', '=> ']\n"
    recipe(puppets, "puppet", (asks, asks + "detail = 'you: (.{25})'\n"))
    repo, secret = fan.repos.repo(), "sk-" + "a1B2" * 8
    (row,) = start(fan, repo, 1, "puppet:permission", "--name", "fan/x", f"Deploy with {secret} now")
    detail = "Deploy with " + "*" * 13
    assert becomes(fan, row, state="needs_input")["detail"] == detail
    eventually(lambda: inbox(fan, repo), within=15)
    for words in (
        ["ls"],
        ["ls", "--waiting"],
        ["wait", "fan/x"],
        ["mail", "read", "human", "--peek"],
        ["why", "fan/x"],
    ):
        for done in (fan.run(*words, cwd=repo), fan.run(*words, "--json", cwd=repo)):
            assert done.code == 0, done.err
            assert detail in done.out
            assert secret[:6] not in done.out


@pytest.mark.timeout(180)
def test_a_prompt_that_failed_is_an_alert_until_it_is_sent(fan: Fan, puppets: Puppets) -> None:
    """A prompt that stalled, and one whose agent died: an alert each, shown by `--waiting` too. It closes when the
    member is removed."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet:lose-all,puppet:die-now", "--name", "fan/x", "Do it", code=1)
    eventually(lambda: len(inbox(fan, repo)) == 2, within=15)
    stalled, died = sorted(one["body"] for one in inbox(fan, repo))
    assert stalled.startswith("fan/x:1 (puppet) did not get its prompt: ")
    assert stalled.endswith(f"; fan send --retry {rows[0]['id']}")
    assert died.endswith(f"; fan resume {rows[1]['id']}")
    assert set(listed(fan, repo, "--waiting")) == {row["id"] for row in rows}
    assert fan.run("rm", rows[1]["id"], cwd=repo).code == 0
    eventually(lambda: len(inbox(fan, repo)) == 1, within=10)
    assert fan.run("attach", "--waiting", cwd=repo).code != 0


@pytest.mark.timeout(180)
def test_with_the_server_go_its_questions(fan: Fan, puppets: Puppets) -> None:
    """Nobody can answer an agent whose session is gone, and no courier is left to say so: whoever looks next is not
    sent there. A prompt that did not get through is told on.

    Red when only the courier closes alerts.
    """
    repo = fan.repos.repo()
    asks, stalled = start(fan, repo, 2, "puppet:permission,puppet:lose-all", "--name", "fan/x", "Do it", code=5)
    eventually(lambda: len(inbox(fan, repo)) == 2, within=15)
    stop_tmux(fan)
    eventually(lambda: len(inbox(fan, repo)) == 1, within=10)
    (alert,) = inbox(fan, repo)
    assert alert["body"].startswith("fan/x:2 (puppet) did not get its prompt: ")
    with world_of(fan, repo) as world:
        assert [one.about for one in world.store.waiting("human")] == [stalled["id"]] != [asks["id"]]


def test_waiting_counts_mail_for_the_person(fan: Fan, puppets: Puppets) -> None:
    """With nobody waiting, `ls --waiting` names the mail that lies there and the command to read it; read, it is
    gone. A member's row says how much it has not read."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    becomes(fan, row, turn="done")
    assert fan.run("ls", "--waiting", cwd=repo).err.endswith("nobody waits for you\n")
    assert puppets.runs(row, "mail", "send", "human", "Done [/] it.").code == 0
    assert fan.run("ls", "--waiting", cwd=repo).err == (
        f"1 message waits for you: {PROGRAM[0]} -m fan mail read human\n"
    )
    eventually(lambda: badge(fan) == "1", within=10)
    assert "Done [/] it.\n--- end" in fan.run("mail", "read", "human", cwd=repo).out
    assert fan.run("ls", "--waiting", cwd=repo).err == "nobody waits for you\n"
    eventually(lambda: badge(fan) == "0", within=10)
    assert fan.run("mail", "send", row["id"], "Well done.", cwd=repo).code == 0
    assert listed(fan, repo)[row["id"]]["unread"] == 1
