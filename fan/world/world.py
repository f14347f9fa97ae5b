"""Everything outside, opened in one place."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fan.world import paths as places
from fan.world.catalogue import Catalogue
from fan.world.clock import Clock
from fan.world.files import private_folder
from fan.world.git import Git
from fan.world.paths import Paths
from fan.world.settings import Settings
from fan.world.settings import load as load_settings
from fan.world.store.records import Store
from fan.world.tmux import Tmux


@dataclass(frozen=True)
class World:
    """The doors. A door that is not used is not opened: `fan recipe ls` makes no store."""

    environ: Mapping[str, str]
    cwd: Path
    clock: Clock
    paths: Paths

    @cached_property
    def store(self) -> Store:
        """Intent and history."""
        return Store(private_folder(self.paths.state))

    @cached_property
    def tmux(self) -> Tmux:
        """`fan`'s own tmux server."""
        return Tmux(self.paths.socket, self.environ)

    @cached_property
    def git(self) -> Git:
        """git, wherever we stand."""
        return Git(self.environ)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The recipes."""
        return Catalogue(self.paths.recipes)

    @cached_property
    def settings(self) -> Settings:
        """Every setting with where it came from."""
        return load_settings(self.paths.config, self.environ)

    @property
    def fan_words(self) -> list[str]:
        """How this very program is started again, whatever PATH says by then."""
        return [sys.executable, "-m", "fan"]


def open_world(environ: Mapping[str, str], cwd: Path) -> World:
    """The world as the process finds it."""
    return World(environ, cwd, Clock(), places.find(environ))
