"""The courier's alerts over a real store and a real tmux: what is written, shown and rung."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core.mail import HUMAN, Message, MessageKind
from fan.core.model import Change, Kind, Member, State
from fan.courier.alerting import Alerting
from fan.world.store.records import Store
from tests.support.groups import Groups, open_groups
from tests.support.tmux import Ground, terminal
from tests.support.wait import eventually

NOW = 1000.0


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    """A store with a group."""
    with open_groups(tmp_path / "g") as made:
        yield made


def asking(members: list[Member]) -> dict[str, Change]:
    """All of them have asked for permission for a while."""
    found = [Change(one.id, State.NEEDS_INPUT, Kind.PERMISSION, "", "screen", NOW - 9) for one in members]
    return {one.member: one for one in found}


def mail(number: int, kind: MessageKind = MessageKind.MAIL, sender: str = "m") -> Message:
    """A message to the person."""
    id_ = f"x{number}"
    return Message(0, id_, HUMAN, HUMAN, HUMAN, sender, sender, "process", "", f"text {number}", NOW, kind=kind)


def badge(ground: Ground) -> str:
    """What the status lines say."""
    return ground.raw("show-options", "-gv", "@fan_waiting")


def test_two_couriers_open_an_alert_once(groups: Groups, ground: Ground) -> None:
    """One that was killed after it had stored, and the next one, which has seen nothing of it: one message for each
    member, the badge right; over, they are closed, and the person's mail is not touched by any number of them.

    Red when an alert is known by the courier that opened it, or shares the ring of the person's mail.
    """
    ground.open()
    members, store = groups.group(2), groups.world.store
    store.post([mail(0)], charge=False)
    Alerting(groups.world, ground.tmux).look(members, asking(members), NOW)
    Alerting(groups.world, ground.tmux).look(members, asking(members), NOW)
    items = store.waiting(HUMAN)
    assert [one.kind for one in items] == ["mail", "alert", "alert"]
    assert [one.about for one in items[1:]] == [one.id for one in members]
    assert badge(ground) == "3"
    alerting = Alerting(groups.world, ground.tmux)
    for n in range(300):
        later = {one.id: replace(asking(members)[one.id], since=NOW + n) for one in members}
        alerting.look(members, later if n % 2 else {}, NOW + n + 2)
        store.mark((), "read", NOW)
    assert store.message("x0").read_at is None
    alerting.look([], {}, NOW + 400)
    assert ([one.id for one in store.waiting(HUMAN)], badge(ground)) == (["x0"], "1")


def test_nothing_written_nothing_asked(groups: Groups, ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing is written the store is asked for its version alone, and tmux for nothing."""
    ground.open()
    members, asked = groups.group(1), []
    alerting = Alerting(groups.world, ground.tmux)
    for _ in range(2):
        alerting.look(members, asking(members), NOW)
    for name in ("waiting", "groups", "last_deliveries", "post", "mark"):
        monkeypatch.setattr(Store, name, lambda *_args, name=name: asked.append(name))
    monkeypatch.setattr(ground.tmux.transport, "run", asked.append)
    for n in range(100):
        alerting.look(members, asking(members), NOW + n)
    assert asked == []


def test_the_bell_rings_for_what_is_new_where_somebody_looks(groups: Groups, ground: Ground) -> None:
    """With `notify = "bell"`, set while the courier runs, each new item rings the terminals once, an old one never;
    a setting that makes no sense rings nobody and stops nothing.

    Red when the bell goes to a pane, or rings again at each look.
    """
    pane = ground.open()
    store, config = groups.world.store, groups.world.paths.config / "config.toml"
    (asker,) = groups.group(1)
    store.post([mail(0)], charge=False)
    alerting = Alerting(groups.world, ground.tmux)
    config.parent.mkdir()
    with terminal(ground.tmux.attach_argv(pane.session_id), ground.environ) as shown:
        eventually(lambda: b"d leaves" in shown.seen)
        config.write_text('notify = "loudly"\n')
        alerting.look([], {}, NOW)
        eventually(lambda: b"1 for you" in shown.seen)
        store.post([mail(1)], charge=False)
        alerting.look([], {}, NOW)
        eventually(lambda: b"2 for you" in shown.seen)
        assert b"\a" not in shown.seen
        config.write_text('notify = "bell"\n')
        store.post([mail(2), mail(3, MessageKind.QUESTION, asker.address)], charge=False)
        for number in range(3):
            alerting.look([], {}, NOW)
            store.mark([f"x{number}"], "read", NOW)
        eventually(lambda: b"4 for you" in shown.seen)
        alerting.look([], {}, NOW)
        eventually(lambda: badge(ground) == "1")
        eventually(lambda: shown.seen.count(b"\a") == 1)
    assert "\a" not in ground.text(pane)


def test_a_question_goes_with_its_asker(groups: Groups, ground: Ground) -> None:
    """That of an agent which exits is closed, text and all else left as they are; so is that of one that is on no
    record. One of a member that is younger than the courier's last look stays, and so does mail.

    Red when the members that were handed over are taken for all that there are.
    """
    ground.open()
    (one, other), store = groups.group(2), groups.world.store
    askers = (one.address, other.address, "gone")
    store.post([mail(n, MessageKind.QUESTION, asker) for n, asker in enumerate(askers)], charge=False)
    store.post([mail(3, sender=one.address)], charge=False)
    alerting = Alerting(groups.world, ground.tmux)
    alerting.look([], {}, NOW)
    assert ([item.id for item in store.waiting(HUMAN)], badge(ground)) == (["x0", "x1", "x3"], "3")
    store.mark((), "read", NOW)
    alerting.look([one, other], {one.id: Change(one.id, State.EXITED, "", "", "process", NOW + 1)}, NOW + 1)
    assert ([item.id for item in store.waiting(HUMAN)], badge(ground)) == (["x1", "x3"], "2")
    closed = store.message("x0")
    assert (closed.body, closed.closed_at, closed.answered_at) == ("text 0", NOW + 1, None)


def test_what_waits_for_the_person(groups: Groups) -> None:
    """Mail is off the list when it was read or answered, a question only when answered, by the person or a script of
    theirs, an alert only when it is closed."""
    store = groups.world.store
    store.post([mail(0), mail(1), mail(2, MessageKind.QUESTION), mail(3, MessageKind.ALERT)], charge=False)
    store.mark(["x0", "x2", "x3"], "read", NOW)
    assert [one.id for one in store.waiting(HUMAN)] == ["x1", "x2", "x3"]
    for number, sender, parent in ((4, "script", "x1"), (5, "other", "x2")):
        store.post([replace(mail(number, sender=sender), inbox="m", reply_to=parent)], charge=False)
    assert [one.id for one in store.waiting(HUMAN)] == ["x2", "x3"]
    store.post([replace(mail(6, sender=HUMAN), inbox="m", reply_to="x2")], charge=False)
    store.mark(["x3"], "closed", NOW)
    assert store.waiting(HUMAN) == []
