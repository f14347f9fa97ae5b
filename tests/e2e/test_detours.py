"""A member that wants more than it may: by variables, by going on in the background, by other names."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.cli import PROGRAM, Fan
from tests.support.members import becomes, listed, start
from tests.support.puppets import Puppets, Row
from tests.support.wait import eventually

FAN = shlex.join(PROGRAM)
CLEARED = "env -u FAN_LAUNCH -u FAN_MEMBER -u FAN_PANE -u FAN_GROUP -u FAN_BIN"


@pytest.fixture
def member(fan: Fan, puppets: Puppets) -> tuple[Path, Row]:
    """A repository and a puppet at rest."""
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    becomes(fan, row, state="rest", turn="done")
    return repo, row


def test_no_variable_makes_a_member_more(fan: Fan, puppets: Puppets, member: tuple[Path, Row]) -> None:
    """Without its variables, with the setting as a variable, with a record elsewhere: it may not fan out, and nothing
    was made. Red when a variable opens it, or when a member on no record is a person's agent."""
    repo, row = member
    elsewhere = f"FAN_STATE_DIR={fan.folder}/s2 FAN_RUNTIME_DIR={fan.folder}/r2"
    for before in (CLEARED, "env FAN_AGENTS_MAY=fan", f"env {elsewhere}", f"{CLEARED} {elsewhere}"):
        refused = puppets.does(row, f"{before} {FAN} 1 --agent puppet --detach again --json")
        assert (refused.code, refused.json["error"]["code"]) == (1, "not_allowed"), before
    assert list(listed(fan, repo)) == [row["id"]]
    assert not Path(f"{fan.folder}/r2/tmux").exists()


def test_who_goes_on_in_the_background_is_still_the_member(
    fan: Fan, puppets: Puppets, member: tuple[Path, Row]
) -> None:
    """Its parent gone and its variables cleared, the session of its pane tells. It marks no mail of the person's.

    Red when only the processes above are asked.
    """
    repo, row = member
    assert fan.run("mail", "send", "human", "Note", cwd=repo).code == 0
    told = fan.folder / "told"
    line = (
        f"{FAN} mail send human 'I am a script' >{told} 2>&1; {FAN} mail read human >>{told} 2>&1; touch {told}.done"
    )
    waits = f'while [ "$(ps -o ppid= -p $$ | tr -d " ")" = "$1" ]; do sleep 0.05; done; {line}'
    puppets.does(row, f"({CLEARED} nohup sh -c {shlex.quote(waits)} sh $$ >{told} 2>&1 &)")
    eventually(Path(f"{told}.done").exists, within=20)
    note, sent = fan.run("mail", "read", "human", "--peek", "--json", cwd=repo).json["messages"]
    assert (sent["author"], sent["verified"]) == ("fan/do:1 (puppet)", "process")
    assert note["receipts"]["read"] is None


def test_only_the_person_discards(fan: Fan, puppets: Puppets, member: tuple[Path, Row]) -> None:
    """An agent that the person drives may remove, but not without an archive; nothing was removed."""
    repo, row = member
    (fan.config / "config.toml").write_text('agents_may = "rm keep"\n')
    for words in (("rm", row["id"]), ("keep", row["id"])):
        refused = puppets.runs(row, *words, "--discard", "--json")
        assert (refused.code, refused.json["error"]["code"]) == (1, "not_allowed")
    assert list(listed(fan, repo)) == [row["id"]]
