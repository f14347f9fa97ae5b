"""What reading an inbox says beside the messages: what is left, what was lost, what there never was."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.caller import Caller, Verified, Who
from fan.core.mail import HUMAN, RING, Message
from fan.core.model import Member
from fan.errors import NotFound, Undeliverable
from fan.render.mail import message, summary
from fan.verbs import wait
from fan.verbs.mail import reply
from fan.verbs.mailbox import ReadRequest, mark_read, read
from fan.world.store.reports import is_empty
from tests.support.cli import PROGRAM, ROOT
from tests.support.groups import Groups, open_groups


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


def post(groups: Groups, count: int, to: Member | None = None, thread: str = "") -> list[Message]:
    """So many messages to a member, or to the person, whose texts are `body 0`, `body 1`, ..."""
    inbox, room, name = (to.address, to.group, to.session) if to else (HUMAN, HUMAN, HUMAN)
    begin = max((one.seq for one in groups.world.store.messages()), default=0)
    found = []
    for number in range(begin, begin + count):
        one = Message(
            0, f"message{number}", room, inbox, name, "me", "me", "process", thread, f"body {number}", 1000.0 + number
        )
        found.append(groups.world.store.post([one], charge=False)[0].message)
    return found


def fan(groups: Groups, *words: str) -> str:
    """What a command prints, run by a script in the repository."""
    done = subprocess.run(
        [*PROGRAM, *words],
        cwd=groups.top,
        env=groups.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("words", "unread"),
    [
        (["human"], 0),
        (["human", "--unread"], 0),
        (["human", "--peek"], 7),
        (["human", "--thread", "talk"], 0),
        (["MEMBER"], 7),
        (["MEMBER", "--unread"], 7),
    ],
)
def test_the_command_for_what_is_left_shows_it(groups: Groups, words: list[str], unread: int) -> None:
    """As it is printed and copied, until nothing is left: every message was shown, those that a peek showed are as
    new as before, and no other inbox was touched.

    Red when it names one's own inbox whatever was read, or shows the same ones again.
    """
    (one,) = groups.group(1, "fan/x")
    to, other = (one, None) if words[0] == "MEMBER" else (None, one)
    post(groups, 7, to, "talk")
    post(groups, 3, other)
    line = f"fan mail read {shlex.join(words).replace('MEMBER', 'fan/x:1')} --limit 3"
    shown = ""
    for _ in range(4):
        shown += fan(groups, *shlex.split(line)[1:])
        more = [each for each in shown.splitlines() if " more: " in each]
        if not shown.splitlines()[-1].partition(" more: ")[2]:
            break
        line = "fan " + more[-1].partition(" -m fan ")[2]
    assert [n for n in range(7) if f"\nbody {n}\n" not in shown] == []
    store = groups.world.store
    assert len(store.unread(to.address if to else HUMAN)) == unread
    assert len(store.unread(other.address if other else HUMAN)) == 3


def test_an_id_that_was_never_issued_is_no_empty_thread(groups: Groups) -> None:
    """To read it or to wait for it is refused; the id of a message means its thread, also once that was evicted.

    Red when an unknown id reads as `no mail`, or is waited for.
    """
    post(groups, 2, thread="talk")
    for ask in (
        lambda: read(groups.world, ReadRequest(thread="nonsense")),
        lambda: wait.mail(groups.world, "nonsense"),
    ):
        with pytest.raises(NotFound, match="there never was a thread `nonsense`"):
            ask()
    post(groups, RING - 1)
    for name in ("talk", "message0", "message1"):
        assert [one.id for one in read(groups.world, ReadRequest(thread=name)).messages] == ["message1"]


def test_a_reply_is_offered_where_it_reaches_somebody(groups: Groups) -> None:
    """What a script sent is answered to the person, whose script it is, and what a script sent to an agent is the
    person's to go on with; an agent outside has no inbox, which is said instead of how to reply.

    Red when every message ends with a command to reply, or a script is looked for as a member.
    """
    (one,) = groups.group(1, "fan/x")
    for number, (sender, inbox) in enumerate([("script", one.address), ("agent", HUMAN), ("script", HUMAN)]):
        sent = Message(0, f"note{number}", HUMAN, inbox, "to", sender, sender, "none", "", "body", 1000.0)
        groups.world.store.post([sent], charge=False)
    member = groups.at(groups.top, Caller(Who.MEMBER, Verified.PROCESS, one, one.agent))
    from_script = message(read(member, ReadRequest()).messages[0], 1001.0, str)
    assert from_script.endswith("reply: fan mail reply note0 'text'\n")
    assert [each.to for each in reply(member, "note0", "Done.").sent] == ["human"]
    from_agent, own = read(groups.world, ReadRequest("human")).messages[:2]
    assert message(from_agent, 1001.0, str).endswith("reply: an agent outside of fan's sessions has no inbox\n")
    assert message(own, 1001.0, str).endswith("reply: fan mail reply note2 'text'\n")
    with pytest.raises(Undeliverable):
        reply(groups.world, "note1", "x")
    with pytest.raises(Undeliverable, match="fan/x:1 cannot read it"):
        reply(groups.world, "note0", "x")


def test_what_was_lost_is_told_once_to_who_has_lost_it(groups: Groups) -> None:
    """With the room full, the one whose oldest messages went is told how many, at the next read alone, of no messages
    too; another of the same room is told nothing, and its empty inbox is still empty to whoever looks at it first.

    Red when the room's losses are told, to everybody and for ever.
    """
    one, two = groups.group(2, "fan/x")
    post(groups, RING + 2, one)
    folder = groups.environ["FAN_STATE_DIR"]
    assert not is_empty(folder, one.launch, unread=True)
    assert is_empty(folder, two.launch, unread=True)
    acting = groups.at(groups.top, Caller(Who.MEMBER, Verified.PROCESS, one, one.agent))
    found = read(acting, ReadRequest(limit=RING))
    assert summary(found, ReadRequest()).startswith("2 older messages ")
    mark_read(acting, [each.id for each in found.messages], found.evicted)
    assert read(acting, ReadRequest()).evicted == 0
    assert is_empty(folder, one.launch, unread=True)
    other = groups.at(groups.top, Caller(Who.MEMBER, Verified.PROCESS, two, two.agent))
    assert read(other, ReadRequest()).evicted == 0
    post(groups, RING + 1)
    assert "1 older" in fan(groups, "mail", "read", "human", "--limit", str(RING))
    assert "older" not in fan(groups, "mail", "read", "human")
