"""Telling the person that something waits for them, in the ways that their setting names."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from fan.core.plain import one_line
from fan.errors import BadSetting
from fan.world.desktop import Desktop
from fan.world.settings import load
from fan.world.tmux import Tmux
from fan.world.world import World

NAMED = 3
log = logging.getLogger(__name__)


class Notifier:
    """Rings the terminals that show a session of ours, and shows notices on the desktop; neither by default."""

    def __init__(self, world: World, tmux: Tmux) -> None:
        self._world = world
        self._tmux = tmux
        self._desktop = Desktop()

    def tell(self, news: Sequence[str]) -> None:
        """Of what has come up: one bell, one notice for all of it."""
        ways = self._ways()
        if "bell" in ways:
            self._tmux.ring_clients()
        if "desktop" in ways and news:
            more = f" and {len(news) - NAMED} more" if len(news) > NAMED else ""
            self._desktop.show("fan", f"{'; '.join(one_line(one) for one in news[:NAMED])}{more}")

    def _ways(self) -> list[str]:
        """As the setting stands by now: the courier lives for long, and has seldom something to tell."""
        try:
            return load(self._world.paths.config, self._world.environ).values.notify.replace(",", " ").split()
        except BadSetting as error:
            log.warning("nobody is told: %s", error.message)
            return []
