"""The shipped recipes and the screens that were recorded for them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fan.core.frames import Frame, Scored, score
from fan.core.recipe import Recipe
from fan.world.catalogue import Catalogue
from fan.world.frames import recorded

ROOT = Path(__file__).parent
CATALOGUE = Catalogue(ROOT / "none")
AGENTS = sorted(CATALOGUE.names())

# Nothing on these frames tells them from rest: box, title and cursor are those of a fresh one (an agent that was
# given a prompt as argument and is about to take it), or the Enter has just been pressed.
ALIKE = {
    "claude/2.1.197-plain": "starting-04 starting-19 starting-20 starting-21 starting-24 starting-25 working-08",
    "codex/0.171.0-plain": "starting-14 starting-16 starting-18 starting-19 starting-21 working-20",
}
# Labelled with what followed a moment later: the trust question is still on the screen with its answer ticked, or
# the agent is still there after Ctrl-C.
AHEAD = {"claude/2.1.197-plain": "rest-08 rest-20 exited-04 exited-05"}


@cache
def frames(agent: str) -> list[Frame]:
    """Every recorded screen of an agent."""
    return [one for one in recorded(ROOT, AGENTS).frames if one.agent == agent]


@cache
def scored(folder: str) -> list[Scored]:
    """What an agent's recipe reads in the screens of `AGENT/VERSION`."""
    agent = folder.partition("/")[0]
    return score(recipe(agent), [one for one in frames(agent) if where(one) == folder])


def recipe(agent: str) -> Recipe:
    return CATALOGUE.recipe(agent)


def folders() -> list[str]:
    """`AGENT/VERSION` of every folder with screens."""
    return sorted({where(one) for agent in AGENTS for one in frames(agent)})


def where(one: Frame) -> str:
    """`AGENT/VERSION` of a frame."""
    return str(Path(one.file).parent)


def name(one: Frame) -> str:
    """The frame's file name without its ending."""
    return Path(one.file).stem


def listed(names: dict[str, str], folder: str) -> set[str]:
    return set(names.get(folder, "").split())
