"""The courier's hands: what a delivery's action does to a pane. The delivery is on record before it comes here."""

from __future__ import annotations

from fan.core import delivery as rules
from fan.core.delivery import Action
from fan.core.model import Delivery
from fan.core.recipe import Submit
from fan.errors import DiskFailed
from fan.world.tmux import NoServer, Tmux

BUFFER = "fan-delivery-"
REFUSED = {
    "dead": "its agent has exited",
    "mode": "its pane is in copy mode",
    "gone": "its session is gone",
}


def buffer_name(delivery: Delivery) -> str:
    """The tmux buffer that only this delivery uses: while it exists, its text has not been pasted."""
    return f"{BUFFER}{delivery.id}"


def perform(tmux: Tmux, pane: str, delivery: Delivery, action: Action, submit: Submit, at: float) -> Delivery:
    """Do `action` on `pane`; the delivery after it. tmux refuses keys to a dead pane or one in copy mode."""
    try:
        if action is Action.LOAD:
            tmux.load(buffer_name(delivery), delivery.text)
            return rules.done(delivery, action, at)
        pasting = action is Action.PASTE
        outcome = tmux.paste(pane, buffer_name(delivery)) if pasting else tmux.press(pane, submit.key)
    except NoServer:
        outcome = "gone"
    except DiskFailed as error:
        return rules.refused(delivery, action, error.message)
    if outcome == "done":
        return rules.done(delivery, action, at)
    return rules.refused(delivery, action, REFUSED[outcome])
