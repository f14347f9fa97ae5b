"""`python -m fan.courier`: run by `fan` itself, as the process of the tmux session `fan-courier`."""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
from pathlib import Path

from fan import __version__
from fan.core.model import Step
from fan.core.standing import pending
from fan.courier.asking import settle_abandoned
from fan.courier.housekeeping import close_orphans, drop_stale_buffers
from fan.courier.loop import Courier
from fan.courier.refreshing import Refresher
from fan.courier.rooms import sweep as sweep_rooms
from fan.errors import Busy, FanError
from fan.world import bells, locks, processes
from fan.world.files import private_folder
from fan.world.git.trash import sweep, throw_away
from fan.world.paths import trash_of
from fan.world.store.records import Running
from fan.world.tmux import NoServer, Tmux
from fan.world.world import World, open_world

# A verb that looks whether a courier runs holds the lock for a moment.
LOCK_PATIENCE = 2.0
TIDY_EVERY = 5.0
WAITER_OPENS = 2.0
"""Seconds within which whoever makes a fifo to wait at has it open."""
SWEEP_EVERY = 3600.0
log = logging.getLogger("fan.courier")


def main() -> int:
    """Run until no session of ours is alive and nothing is pending."""
    world = open_world(os.environ, Path("/"))
    private_folder(world.paths.logs)
    logging.basicConfig(
        filename=world.paths.logs / "courier.log", format="%(asctime)s %(process)d %(message)s", level=logging.INFO
    )
    for asked in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asked, _leave)
    try:
        with locks.held(world.paths.courier_lock, LOCK_PATIENCE, Busy("another courier holds the lock")):
            return _run(world)
    except (Busy, NoServer) as error:
        log.warning("left: %s", error)
        return 0
    except Exception:
        log.exception("the courier ended")
        raise


def _leave(number: int, _frame: object) -> None:
    """Go at once: everything is on record."""
    log.info("left: signal %d", number)
    sys.exit(0)


def _run(world: World) -> int:
    pid = os.getpid()
    log.info("started, version %s", __version__)
    bell = bells.of_courier(world.paths.bell)
    tmux = world.tmux.watch()
    # Who is on record may be ended, which must not happen while its client introduces itself (world/tmux/turns).
    world.store.set_running(Running(pid, processes.started(pid) or 0.0, __version__))
    refresher = Refresher(world)
    courier = Courier(world, tmux, refresher)
    life = Life(world)
    while life.goes_on(tmux):
        try:
            wait = courier.tick()
        except NoServer:
            raise
        except FanError:
            # What could not be put on record was not done, and a look that failed is evidence of nothing.
            log.exception("looking again")
            tmux.close()
            tmux = world.tmux.watch()
            courier = Courier(world, tmux, refresher)
            wait = 1.0
        ready, _, _ = select.select([bell], [], [], wait)
        if ready:
            os.read(bell, 4096)
            courier.wake()
    log.info("left: nothing to do")
    tmux.close()
    return 0


class Life:
    """Whether the courier is still needed, and the tidying it does meanwhile."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tidied = self._swept = 0.0
        self._needed_at = world.clock.now()

    def goes_on(self, tmux: Tmux) -> bool:
        """Tidy every few seconds; False once nothing has needed a courier for a while."""
        now = self._world.clock.now()
        if now - self._tidied < TIDY_EVERY and now >= self._tidied:
            return True
        self._tidied = now
        try:
            self._tidy(tmux, now)
            needed = self._needed(tmux)
        except NoServer:
            raise
        except FanError:
            log.exception("tidying")
            needed = True
        if needed:
            self._needed_at = now
        return now - self._needed_at < self._world.settings.values.courier_lingers

    def _tidy(self, tmux: Tmux, now: float) -> None:
        close_orphans(self._world)
        settle_abandoned(self._world)
        drop_stale_buffers(self._world, tmux)
        bells.sweep(self._world.paths.runtime, now - WAITER_OPENS)
        if now - self._swept > SWEEP_EVERY:
            self._swept = now
            sweep_trash(self._world)
            sweep_rooms(self._world)

    def _needed(self, tmux: Tmux) -> bool:
        panes = {pane.launch: pane for pane in tmux.panes()}
        members = {member.id: member for member in self._world.store.members()}
        if any(not panes[one.launch].dead for one in members.values() if one.launch in panes):
            return True
        queue = pending(self._world.store.open_deliveries())
        making = [one for one in members.values() if one.step not in (Step.READY, Step.FAILED)]
        return bool(making) or any(members[one.member].launch in panes for one in queue if one.member in members)


def sweep_trash(world: World) -> None:
    """Removed worktrees whose days are over leave the trash; their refs stay until `fan archive rm`."""
    older = world.settings.values.trash_days * 86400
    now, trash = world.clock.now(), trash_of(world.paths.worktrees)
    sweep(trash, older, now)
    for place in world.store.places(now - older):
        # One that was made elsewhere has its trash beside it, where others may have put something too.
        if place.parent != trash:
            throw_away(place)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FanError as error:
        sys.exit(f"fan: the courier ended: {error.message}")
