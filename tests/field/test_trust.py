"""Field cases: what an agent asks before it begins."""

from __future__ import annotations

import time

import pytest

from tests.support.cli import Fan
from tests.support.members import becomes, listed, now, press, sessions, start, write
from tests.support.puppets import Puppets
from tests.support.wait import eventually, window


@pytest.mark.field("B024")
def test_b024_the_trust_question_is_the_persons(fan: Fan, puppets: Puppets) -> None:
    """Of three that ask, the one answered gets its prompt once, after its last question; the one refused is
    `not_sent` and says so; the one left alone is shown as waiting. `fan` presses no key in any of them.

    Red when a trust question counts as rest, or when waiting for a person uses up the patience.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 3, "puppet:gate", "--patience", "2", "Do it", code=3)
    answered, refused, alone = rows
    assert [(row["state"], row["kind"], row["prompt_status"]) for row in rows] == [
        ("needs_input", "trust", "pending")
    ] * 3
    window(3)
    assert [puppets.raw(row) for row in rows] == [b""] * 3
    press(fan, answered, "Enter")
    becomes(fan, answered, kind="choice", prompt_status="pending")
    assert puppets.raw(answered) == b"\r"
    press(fan, answered, "Enter")
    puppets.takes(answered, "Do it")
    assert puppets.raw(answered) == b"\r\r\x1b[200~Do it\x1b[201~\r"
    press(fan, refused, "Down", "Enter")
    told = becomes(fan, refused, prompt_status="not_sent", state="exited")
    assert "agent left at the trust question" in told["prompt_note"]
    assert "code 0" in told["prompt_note"]
    assert (now(fan, alone)["prompt_status"], now(fan, alone)["kind"]) == ("pending", "trust")
    assert alone["id"] in listed(fan, repo, "--waiting")
    assert puppets.raw(alone) == b""
    assert becomes(fan, answered, prompt_status="sent")["typed"] == "yes"


@pytest.mark.field("B025")
def test_b025_with_no_marked_first_nothing_is_pressed(fan: Fan, puppets: Puppets) -> None:
    """Where the marked answer is the one that leaves, no key is pressed, the person is named, both agents live."""
    rows = start(fan, fan.repos.repo(), 2, "puppet:gate-no", "Do it", code=3)
    window(2)
    for row in rows:
        assert puppets.raw(row) == b""
        assert (now(fan, row)["state"], now(fan, row)["kind"]) == ("needs_input", "trust")
    assert len(sessions(fan)) == 2


@pytest.mark.field("B027")
def test_b027_a_login_keeps_the_prompt(fan: Fan, puppets: Puppets) -> None:
    """One of three is logged out: it is shown with how to attach, the others go on, and after the person has logged
    in its prompt is sent once."""
    repo = fan.repos.repo()
    done = fan.run("3", "--agent", "puppet,puppet:login,puppet", "--json", "--patience", "2", "Do it", cwd=repo)
    first, out, last = done.json["members"]
    assert (done.code, out["state"], out["kind"], out["prompt_status"]) == (3, "needs_input", "login", "pending")
    assert f"attach {out['session']}" in done.err
    for row in (first, last):
        assert puppets.submitted(row) == [b"Do it"]
    window(3)
    assert (puppets.raw(out), now(fan, out)["kind"]) == (b"", "login")
    write(fan, out, "letmein")
    press(fan, out, "Enter")
    puppets.takes(out, "Do it")
    becomes(fan, out, prompt_status="sent")
    assert puppets.events(out, "login")[0]["word"] == "letmein"


@pytest.mark.field("B028")
def test_b028_a_start_that_drops_keys_is_never_taken_for_sent(fan: Fan, puppets: Puppets) -> None:
    """An agent that looks ready and drops all keys: `not_sent: not echoed`, no Enter was pressed, and only `--again`
    types it once more.

    Red when the Enter is pressed without the text having been seen in the composer.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it", code=1, env={"PUPPET_ARGS": "--busy 0.3 --slow 6"})
    for row in rows:
        assert (row["prompt_status"], row["prompt_note"], puppets.submitted(row)) == ("not_sent", "not echoed", [])
        assert puppets.raw(row) == b"\x1b[200~Do it\x1b[201~"
        assert [one["state"] for one in puppets.events(row, "key")] == ["slow"]
    refused = fan.run("send", "--retry", rows[0]["id"], cwd=repo)
    assert refused.code == 1
    assert "--again" in refused.err
    eventually(lambda: time.time() - puppets.started(rows[0])["at"] > 6.5, within=10)
    assert fan.run("send", "--retry", "--again", rows[0]["id"], cwd=repo).code == 0
    puppets.takes(rows[0], "Do it")
    assert puppets.submitted(rows[1]) == []


@pytest.mark.field("B028")
def test_b028_a_notice_is_no_obstacle(fan: Fan, puppets: Puppets) -> None:
    """A line more above the composer does not keep the prompt back, and nothing is `done` before it was given."""
    rows = start(fan, fan.repos.repo(), 2, "puppet:notice", "--detach", "Do it")
    assert [row["turn"] for row in rows] == ["none"] * 2
    for row in rows:
        puppets.takes(row, "Do it", within=10)
        becomes(fan, row, prompt_status="sent", turn="done")
