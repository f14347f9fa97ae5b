"""`fan recipe score`: what the recipes read in recorded screens whose true state is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from fan.core import frames
from fan.core.frames import Scored
from fan.world.frames import recorded
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Score:
    """Every frame with what was read, by agent and file; agents without a recipe and screens without a label."""

    scored: list[Scored]
    skipped: list[str]
    unlabelled: list[str]

    @property
    def false_rests(self) -> list[Scored]:
        """Frames that are not at rest and were read as rest: the dangerous ones."""
        return [one for one in self.scored if one.is_false_rest]

    @property
    def missed_rests(self) -> list[Scored]:
        """Frames at rest that were not recognised."""
        return [one for one in self.scored if one.is_missed_rest]

    def matrix(self) -> dict[str, dict[str, dict[str, int]]]:
        """Agent, true state, read state, count."""
        return frames.matrix(self.scored)


def score(world: World, folder: Path) -> Score:
    """Score all recipes on the frames in `folder`. Raises NotFound, DiskFailed, BadRecipe."""
    found = recorded(folder, world.catalogue.names())
    scored: list[Scored] = []
    for agent, group in groupby(found.frames, key=lambda one: one.agent):
        scored += frames.score(world.catalogue.recipe(agent), group)
    return Score(scored, found.skipped, found.unlabelled)
