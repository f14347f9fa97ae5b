"""Everything outside, opened in one place."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fan.world import paths as places
from fan.world.clock import Clock
from fan.world.paths import Paths

# Doors are imported when they are first used: together they cost a verb that needs one more than the verb itself.
if TYPE_CHECKING:
    from fan.core.caller import Act, Caller
    from fan.world.catalogue import Catalogue
    from fan.world.git import Git
    from fan.world.settings import Settings
    from fan.world.stash import Stash
    from fan.world.store.records import Store
    from fan.world.tmux import Tmux


class World(Struct, frozen=True, dict=True):
    """The doors. A door that is not used is not opened: `fan recipe ls` makes no store."""

    environ: Mapping[str, str]
    cwd: Path
    clock: Clock
    paths: Paths
    acting: Caller | None = None
    """For whom this process acts, where that is not whoever started it."""

    @cached_property
    def store(self) -> Store:
        """Intent and history."""
        from fan.world.files import private_folder
        from fan.world.store.records import Store

        return Store(private_folder(self.paths.state))

    @cached_property
    def stash(self) -> Stash:
        """Files handed over."""
        from fan.world.files import private_folder
        from fan.world.stash import Stash

        return Stash(private_folder(self.paths.state) / "stash")

    @cached_property
    def tmux(self) -> Tmux:
        """`fan`'s own tmux server."""
        from fan.world.tmux import Tmux

        return Tmux(self.paths.socket, self.environ)

    @cached_property
    def git(self) -> Git:
        """git, wherever we stand."""
        from fan.world.git import Git

        return Git(self.environ)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The recipes."""
        from fan.world.catalogue import Catalogue

        return Catalogue(self.paths.recipes)

    @cached_property
    def settings(self) -> Settings:
        """Every setting with where it came from."""
        from fan.world.settings import load

        return load(self.paths.config, self.environ)

    @cached_property
    def caller(self) -> Caller:
        """Who called: found by the processes above us, the first time somebody asks."""
        if self.acting:
            return self.acting
        from fan.world import callers

        return callers.find(self.store.members(), self.environ, self.catalogue.names())

    def allow(self, act: Act) -> None:
        """Raises NotAllowed when whoever called may not do this."""
        from fan.core.caller import require
        from fan.world.settings import load

        # The file alone: variables are the caller's own, and an agent could open to itself whatever it likes.
        opened = load(self.paths.config, {}).values.agents_may
        require(self.caller, act, opened.replace(",", " ").split())

    @property
    def python(self) -> list[str]:
        """How this very Python runs a module of ours; `-P`: never one of the folder that we stand in."""
        return [sys.executable, "-P", "-m"]


def open_world(environ: Mapping[str, str], cwd: Path, acting: Caller | None = None) -> World:
    """The world as the process finds it."""
    return World(environ, cwd, Clock(), places.find(environ), acting)
