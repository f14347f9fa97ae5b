"""Members without a session: one that never had any is not said to have lost it; work that was done stays done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.model import Change, Kind, Member, State, Step
from fan.errors import TargetGone
from fan.verbs.attach import AttachRequest, attach
from fan.verbs.listing import ListRequest, ls
from fan.verbs.resume import ResumeRequest, resume
from fan.verbs.send import SendRequest, send
from fan.verbs.why import why
from tests.support.groups import Groups, open_groups
from tests.support.listening import Silent


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


@pytest.fixture
def failed(groups: Groups) -> list[Member]:
    """A group of two whose setups failed."""
    members = groups.group(2, "fan/mend")
    for one in members:
        groups.world.store.update_member(one.id, step=Step.FAILED, failure="setup: `make` ended", pane="", launch="")
    return members


def test_a_group_of_failed_setups_has_no_sessions_to_speak_of(groups: Groups, failed: list[Member]) -> None:
    """Resumed as a group, each is named with what failed, and nothing is said of sessions that they all have.

    Red when whoever is not ready counts as one with a session.
    """
    done = resume(groups.world, ResumeRequest(("fan/mend",)), Silent())
    assert (done.members, done.left) == ([], [])
    assert len(done.notes) == 2
    assert all("it never had a session: setup: `make` ended" in note for note in done.notes)


def test_no_verb_says_that_a_session_is_gone_that_never_was(groups: Groups, failed: list[Member]) -> None:
    """`attach`, `send` and `why` tell what failed; of one that had a session they say that it is gone."""
    one, two = failed
    for call in (
        lambda target: attach(groups.world, AttachRequest(target)),
        lambda target: send(groups.world, SendRequest(target, "More")),
    ):
        with pytest.raises(TargetGone, match="it never had a session: setup: `make` ended"):
            call(one.id)
    assert why(groups.world, one.id).detail == "it never had a session: setup: `make` ended"
    groups.world.store.update_member(two.id, step=Step.READY, failure="", launch=two.launch)
    assert why(groups.world, two.id).detail == "its session is gone"
    with pytest.raises(TargetGone, match="its session is gone") as gone:
        attach(groups.world, AttachRequest(two.id))
    assert gone.value.hint == f"fan resume {two.id}"


@pytest.mark.parametrize(
    ("seen", "turn"),
    [
        ([(State.WORKING, ""), (State.REST, "")], "done"),
        ([(State.WORKING, ""), (State.NEEDS_INPUT, Kind.QUESTION)], "done"),
        ([(State.WORKING, ""), (State.EXITED, "")], "none"),
        ([], "none"),
    ],
)
def test_work_is_done_where_rest_was_seen(groups: Groups, seen: list[tuple[State, str]], turn: str) -> None:
    """Of a member whose session is gone, the record says whether its last prompt's work had been done.

    Red when an agent that ended within its turn counts as done, or one that had rested as not.
    """
    (one,) = groups.group(1)
    sent = groups.world.store.deliveries(one.id)[0].done_at or 0.0
    groups.world.store.add_change(Change(one.id, State.REST, "", "", "screen", sent - 1))
    for later, (state, kind) in enumerate(seen):
        groups.world.store.add_change(Change(one.id, state, kind, "", "screen", sent + later))
    (row,) = [row for row in ls(groups.world, ListRequest()).rows if row.id]
    assert (row.state, row.turn) == ("exited", turn)
