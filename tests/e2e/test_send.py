"""`fan send`: what it says of a prompt that has to wait, slash commands, and what a retry reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.core.delivery import failed
from fan.core.model import Delivery
from fan.errors import Blocked, NotReady
from fan.verbs.ask import AskRequest, ask
from tests.support.asking import questions, world_of
from tests.support.cli import Fan
from tests.support.members import becomes, error, listed, now, press, recipe, start, write
from tests.support.puppets import Puppets
from tests.support.wait import eventually


@pytest.fixture
def repo(fan: Fan) -> Path:
    return fan.repos.repo()


def test_a_slash_command_is_sent_as_it_is(fan: Fan, repo: Path) -> None:
    """With the list of commands open below it, it is submitted and runs, and the next prompt is taken.

    Red when the recipe does not know a composer with that list.
    """
    (row,) = start(fan, repo, 1, "demo", "--name", "fan/x", "Do it", env={"FAN_DEMO_SPEED": "20"})
    becomes(fan, row, state="rest", turn="done")
    assert fan.run("send", "--command", row["id"], "/help", cwd=repo).code == 0
    becomes(fan, row, prompt_status="sent", state="rest")
    assert "Ctrl-C twice leaves" in fan.run("why", row["id"], cwd=repo).out
    assert fan.run("send", row["id"], "Then this", cwd=repo).code == 0
    becomes(fan, row, prompt_status="sent", state="rest", turn="done")


@pytest.mark.timeout(180)
def test_a_retry_reaches_what_stands_in_the_composer(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """A prompt that was not submitted holds up the ones behind it. That is said, with the command that sends it; the
    others then follow, each once.

    Red when a retry looks at the last prompt alone, or our own text is called a draft.
    """
    lost = {"PUPPET_ARGS": "--busy 0.3 --lose-enter 3"}
    (row,) = start(fan, repo, 1, "puppet", "--name", "fan/x", "Do it", code=1, env=lost)
    later = fan.run("send", row["id"], "Then this", cwd=repo)
    says = "an earlier prompt stands in its composer, not submitted"
    assert later.code == 3
    assert f"it waits: {says}; fan send --retry {row['id']}" in later.err
    eventually(lambda: says in now(fan, row)["prompt_note"], within=10)
    with world_of(fan, repo) as world, pytest.raises(Blocked) as blocked:
        ask(world, AskRequest(row["id"], "Is it so?", ready=0.2))
    assert blocked.value.hint == f"fan send --retry {row['id']}"
    retried = fan.run("send", "--retry", row["id"], cwd=repo)
    assert (retried.code, retried.err.strip()) == (0, "only the submit key is pressed")
    puppets.takes(row, "Do it", "Then this")
    becomes(fan, row, prompt_status="sent", prompt_note="")
    assert error(fan.run("send", "--retry", row["id"], "--json", cwd=repo).out)["code"] == "not_found"


def test_a_prompt_that_waits_for_the_person(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Behind a question the exit code is 3 and the next command named; behind work it is 0.

    Red when both are called the same.
    """
    asks, works = start(fan, repo, 2, "puppet:permission,puppet:busy", "--name", "fan/x", "Do it")
    becomes(fan, asks, kind="permission")
    waits = fan.run("send", asks["id"], "Then this", cwd=repo)
    assert (waits.code, waits.err.strip()) == (
        3,
        f"it waits: it asks for your permission; fan attach {asks['id']}",
    )
    queued = fan.run("send", works["id"], "Then this", cwd=repo)
    assert (queued.code, queued.err.strip()) == (0, "it waits: it is working")
    press(fan, asks, "Enter")
    puppets.takes(asks, "Do it", "Then this")


def test_a_retry_says_what_it_does(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """What was never typed is not typed again. Red when both are told in the same words."""
    (row,) = start(fan, repo, 1, "puppet:permission", "--name", "fan/x", "Do it")
    becomes(fan, row, kind="permission")
    with world_of(fan, repo) as world:
        queued = world.store.add_delivery(Delivery(0, row["id"], "Then this", world.clock.now()))
        assert world.store.save_delivery(failed(queued, "interrupted", world.clock.now()), was=queued)
    retried = fan.run("send", "--retry", row["id"], cwd=repo)
    assert retried.code == 3
    assert retried.err.startswith("nothing of it had been typed; now it is; it waits: it asks for your permission; ")
    press(fan, row, "Enter")
    puppets.takes(row, "Do it", "Then this")


def test_our_own_paste_is_nobodys_draft(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """While a prompt stands in the composer for its submit key, the next one waits for that, not for the person.

    Red when whatever stands there is taken for a draft.
    """
    recipe(puppets, "patient", ("[submit]\n", "[submit]\ngap = 4.0\nstall = 12.0\n"))
    (row,) = start(fan, repo, 1, "patient", "--detach", "Do it")
    eventually(lambda: puppets.raw(row).endswith(b"\x1b[201~"), within=20, every=0.005)
    with world_of(fan, repo) as world:
        with pytest.raises(NotReady) as late:
            ask(world, AskRequest(row["id"], "Is it so?", ready=0.3))
        assert questions(world, row) == []
    assert late.value.message.endswith("another prompt is being typed to it")
    more = fan.run("send", row["id"], "Then this", cwd=repo)
    assert (more.code, more.err.strip()) == (0, "it waits: another prompt is being typed to it")
    puppets.takes(row, "Do it", "Then this")


def test_a_draft_is_the_persons_to_finish(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Words go behind it, with exit code 3 and the way to it; a question is refused as blocked, since to wait does
    not help, and leaves nothing that waits for anybody.

    Red when the asker is sent to wait for rest, which is there already.
    """
    (row,) = start(fan, repo, 1, "puppet", "--name", "fan/x", "Do it")
    becomes(fan, row, state="rest", turn="done")
    write(fan, row, "my draft")
    eventually(lambda: puppets.raw(row).endswith(b"my draft"))
    with world_of(fan, repo) as world, pytest.raises(Blocked) as blocked:
        ask(world, AskRequest(row["id"], "Is it so?", ready=0.5))
    assert blocked.value.message == "fan/x:1 cannot be asked: for 0.5 s somebody's draft is in its composer"
    assert blocked.value.hint == f"fan attach {row['id']}"
    sent = fan.run("send", row["id"], "Then this", cwd=repo)
    assert (sent.code, sent.err.strip()) == (
        3,
        f"it waits: somebody's draft is in its composer; fan attach {row['id']}",
    )


def test_a_question_taken_back_waits_for_nobody(fan: Fan, puppets: Puppets, repo: Path) -> None:
    """Nothing came of it, so that the member's last prompt, its turn, `--waiting` and a retry are as before.

    Red when a question that nobody asks any more is the last prompt.
    """
    (row,) = start(fan, repo, 1, "puppet", "--name", "fan/x", "Do it")
    before = becomes(fan, row, state="rest", turn="done")
    assert fan.run("ask", row["id"], "Is it so?", "--timeout", "0", cwd=repo).code == 6
    with world_of(fan, repo) as world:
        assert [one.typed for one in questions(world, row)] == ["no"]
    after = now(fan, row)
    assert {**after, "since": 0} == {**before, "since": 0}
    assert listed(fan, repo, "--waiting") == {}
    assert error(fan.run("send", "--retry", row["id"], "--json", cwd=repo).out)["code"] == "not_found"
