"""The courier killed, and tmux failing it, before and after each thing that it does for one prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fan.core.model import Delivery, Status
from fan.courier import start as courier
from tests.support.cli import Fan
from tests.support.killing import killing
from tests.support.members import start, stop_courier, tmux
from tests.support.puppets import Puppets
from tests.support.remains import Remains
from tests.support.wait import eventually

SHARES = 3
MOST = 100


def _alone(fan: Fan, repo: Path) -> tuple[dict[str, Any], Remains]:
    """One member that has had its first prompt, and no courier but a session that stands for it."""
    (row,) = start(fan, repo, 1, "puppet", "--env", "PUPPET_ARGS=--busy 0.1", "the first one")
    remains = Remains(fan, repo)
    stop_courier(fan)
    eventually(lambda: "fan-courier" not in tmux(fan, "list-sessions", "-F", "#{session_name}").split())
    remains.world.tmux.start_courier(["sleep", "300"], courier.environment(fan.env))
    return row, remains


@pytest.mark.parametrize("fail", [False, True], ids=["killed", "tmux fails"])
@pytest.mark.parametrize("share", range(SHARES))
def test_each_step(fan: Fan, puppets: Puppets, share: int, fail: bool) -> None:
    """Wherever it happens, the next courier brings the prompt to its end: typed once, submitted once, `sent`, and no
    buffer is left.

    Red when the paste is made before it is on record, or when a paste without an answer is made again.
    """
    repo = fan.repos.repo()
    row, remains = _alone(fan, repo)
    store = remains.world.store
    texts = ["the first one"]
    with killing(fan) as run:
        for number in range(share, MOST, SHARES):
            texts.append(f"prompt {number}")
            store.add_delivery(Delivery(0, row["id"], texts[-1], remains.world.clock.now()))
            broken = run.courier(cwd=repo, before=number, fail=fail)
            where = broken.points[-1]
            again = run.courier(cwd=repo)
            assert again.code == 0, (where, again)
            last = store.deliveries(row["id"])[-1]
            assert (last.text, last.status, last.note) == (texts[-1], Status.SENT, ""), where
            puppets.takes(row, *texts)
            assert remains.stray_buffers() == [], where
            assert puppets.raw(row).count(b"\x1b[200~") == len(texts), where
            if len(broken.points) <= number:
                return
    pytest.fail("it was broken at every point")
