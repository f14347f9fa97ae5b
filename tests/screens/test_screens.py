"""Every recorded screen is read as what it shows, and every rule of a shipped recipe is shown by one."""

from __future__ import annotations

import pytest

from fan.core.frames import ERROR, Frame, Scored, read_frame
from fan.core.model import State
from fan.core.reading import Tried
from fan.core.recipe import Recipe, Rule
from tests.screens.recorded import AGENTS, AHEAD, ALIKE, ROOT, folders, frames, listed, name, recipe, scored

RULES = [
    pytest.param(agent, number, id=f"{agent}-{rule.region}-{rule.kind or rule.state}-{number}")
    for agent in AGENTS
    for number, rule in enumerate(recipe(agent).screen.rules)
]
# Of the settled frames: how many at rest were recognised, how many there are, how many others were read as rest.
FIGURES = {
    "claude/2.1.197": (20, 20, 0),
    "claude/2.1.197-plain": (28, 30, 6),
    "codex/0.171.0": (22, 22, 0),
    "codex/0.171.0-plain": (30, 30, 5),
    "demo/1": (18, 18, 0),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_recipe_has_screens_of_the_versions_it_names(agent: str) -> None:
    """Every recipe has a folder of screens for each version in `recorded`, and none of another version."""
    names = {place.name for place in (ROOT / agent).iterdir()} if (ROOT / agent).is_dir() else set()
    versions = set(recipe(agent).recorded)
    assert versions
    assert versions <= names
    assert {one.removesuffix("-plain") for one in names} == versions


@pytest.mark.parametrize("folder", folders())
def test_a_screen_is_read_as_what_it_shows(folder: str) -> None:
    """State and kind of every settled frame are its label's, but for those that are listed by name."""
    spared = listed(ALIKE, folder) | listed(AHEAD, folder)
    settled = [one for one in scored(folder) if not one.frame.transition and name(one.frame) not in spared]
    assert [_words(one) for one in settled if not _is_right(one)] == []


@pytest.mark.parametrize("folder", folders())
def test_what_is_not_at_rest_is_not_read_as_rest(folder: str) -> None:
    """No frame, in transition or not, is read as rest but at rest: the exceptions are exactly those listed."""
    assert {name(one.frame) for one in scored(folder) if one.is_false_rest} == listed(ALIKE, folder)


@pytest.mark.parametrize("folder", folders())
def test_rest_is_recognised(folder: str) -> None:
    """At least 98 % of the settled frames that show rest are read as rest; the figures are these."""
    settled = [one for one in scored(folder) if not one.frame.transition]
    rests = [one for one in settled if one.frame.state == State.REST]
    known = sum(not one.is_missed_rest for one in rests)
    shown = [one for one in rests if name(one.frame) not in listed(AHEAD, folder)]
    assert known >= 0.98 * len(shown) > 0
    assert (known, len(rests), sum(one.is_false_rest for one in settled)) == FIGURES[folder]


@pytest.mark.parametrize("folder", sorted(ALIKE))
def test_what_is_listed_as_alike_is_alike(folder: str) -> None:
    """Each frame excused from the rule above has a twin that is labelled rest: the same rules match in both."""
    twins = {_signs(one.frame) for one in scored(folder) if one.frame.state == State.REST}
    alike = [one.frame for one in scored(folder) if name(one.frame) in listed(ALIKE, folder)]
    assert [one.file for one in alike if _signs(one) not in twins] == []


@pytest.mark.parametrize(("agent", "number"), RULES)
def test_a_rule_is_shown_by_the_screen_it_names(agent: str, number: int) -> None:
    """The frame in `seen` exists and matches this very rule."""
    rule = recipe(agent).screen.rules[number]
    named = [one for one in frames(agent) if name(one) == rule.seen]
    assert any(_tried(recipe(agent), one, number).matched for one in named), f"{rule.seen} does not show it"


@pytest.mark.parametrize(("agent", "number"), RULES)
def test_a_rule_is_contradicted_by_a_screen(agent: str, number: int) -> None:
    """Some frame of the living agent does not match it: it does not fit everything."""
    other = [_tried(recipe(agent), one, number) for one in frames(agent) if not one.look.pane.dead]
    assert not all(one.matched for one in other)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_state_that_is_claimed_has_a_screen(agent: str) -> None:
    """For each state and kind of a recipe's rules there is a frame of it that is read so."""
    read = {(str(one.state), one.kind) for folder in folders() for one in scored(folder) if one.frame.agent == agent}
    assert {_claim(rule) for rule in recipe(agent).screen.rules} <= read


def _claim(rule: Rule) -> tuple[str, str]:
    return str(rule.state), str(rule.kind or "")


def _tried(by: Recipe, one: Frame, number: int) -> Tried:
    return read_frame(by, one).tried[number]


def _signs(one: Frame) -> tuple[int, ...]:
    tried = read_frame(recipe(one.agent), one).tried
    return tuple(number for number, each in enumerate(tried) if each.matched)


def _is_right(one: Scored) -> bool:
    """An error with an open composer may be rest; of a start that painted nothing, nothing can be told."""
    true = State.ERRORED if one.frame.state in ERROR else State(one.frame.state)
    also = {State.ERRORED: State.REST, State.STARTING: State.UNKNOWN}.get(true)
    return one.state in (true, also) and one.frame.kind in ("", one.kind)


def _words(one: Scored) -> str:
    return f"{one.frame.file}: {one.state} {one.kind} ({one.why})"
