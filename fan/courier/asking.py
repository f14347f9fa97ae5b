"""Questions whose asker waits no more: what has not been typed by then is not typed later."""

from __future__ import annotations

from fan.core import delivery as rules
from fan.core.model import Delivery, Status, Typed
from fan.world.world import World

PURPOSE = "ask"
UNTOUCHED = ("waiting", "loaded")


def take_back(world: World, number: int, why: str) -> bool:
    """Give a question up if nothing of it has been typed; whether it was."""
    while True:
        delivery = world.store.delivery(number)
        if not _is_untouched(delivery):
            return False
        if world.store.save_delivery(rules.failed(delivery, why, world.clock.now()), was=delivery):
            return True


def take_back_abandoned(world: World) -> None:
    """The same for those whose asker was killed."""
    open_ones = [one for one in world.store.open_deliveries() if one.purpose == PURPOSE and _is_untouched(one)]
    if not open_ones:
        return
    from fan.world import processes

    waiting = {one.delivery for one in world.store.asks() if processes.alive(one.pid, one.pid_started)}
    for one in open_ones:
        if one.id not in waiting:
            take_back(world, one.id, "its asker is gone")


def _is_untouched(delivery: Delivery) -> bool:
    return delivery.status is Status.PENDING and delivery.typed is Typed.NO and delivery.phase in UNTOUCHED
