"""What an agent has said: its final words from its transcript, else what its pane has printed; and in which talk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fan.core.compare import at
from fan.core.model import Delivery, Member, State, Status
from fan.core.printed import printed
from fan.core.recipe import Recipe
from fan.core.resuming import Talk, talk, told
from fan.core.transcript import Final, final_words, marks, turn
from fan.courier.seeing import Seen
from fan.errors import DiskFailed
from fan.world import transcripts
from fan.world.world import World

HISTORY = 2000
LATE = 1.5
"""Seconds that an agent may take to write down what it has said."""
LOOK_EVERY = 0.1

COMPLETE, PARTIAL, SCREEN = "complete", "partial", "screen"
EMPTY: Mapping[Path, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was there before the question was typed: the pane's lines, and each transcript's size."""

    lines: list[str]
    sizes: dict[Path, int]


def baseline(world: World, seen: Seen) -> Baseline:
    """What is there now."""
    files = _files(world, seen.member, seen.recipe) if seen.recipe else []
    return Baseline(_printed(world, seen), {file: transcripts.size(file) for file in files})


def words(world: World, seen: Seen, delivery: Delivery, before: Baseline, *, guessed: bool) -> tuple[str, str]:
    """The answer to what was delivered, and its quality.

    `complete`: the transcript says that the turn ended with it. `partial`: it does not, the turn ended in an error,
    or its end was `guessed`. `screen`: there is no transcript to find it in.
    """
    found = _awaited(world, seen, delivery, before)
    if found is None:
        return printed(before.lines, _printed(world, seen)), SCREEN
    failed = seen.reading.state is State.ERRORED
    return found.text, COMPLETE if found.ended and not failed and not guessed else PARTIAL


def conversation(world: World, member: Member, recipe: Recipe) -> Talk | None:
    """The conversation of a launch, by its transcript's first line, where no hook tells it.

    It must hold a turn on a prompt of ours: agents keep no conversation without one, and it might be another's.
    """
    how = recipe.transcript
    if how is None or how.owner is None or not how.owner.conversation or member.launched_at is None:
        return None
    sent = [one.text for one in world.store.deliveries(member.id) if one.status is Status.SENT]
    wanted = marks([how.asked, how.said, how.ended])
    for file, head in reversed(transcripts.owned(how, member.path, member.launched_at, world.environ)):
        try:
            items = list(transcripts.items(file, wanted))
        except DiskFailed:
            continue  # it cannot be resumed by what cannot be read
        if any(turn(items, how, text) for text in sent):
            return talk(at(head, how.owner.conversation), str(file))
    return None


def _printed(world: World, seen: Seen) -> list[str]:
    """What stands above the composer, out of sight too."""
    composer = seen.reading.composer
    return world.tmux.history(seen.pane.id, HISTORY, composer.first if composer else None) if seen.pane else []


def can_be_found(recipe: Recipe) -> bool:
    """Whether an agent writes down what it says, so that it can be found later on."""
    return recipe.transcript is not None and recipe.transcript.said is not None


def final(
    world: World, member: Member, recipe: Recipe, delivery: Delivery, sizes: Mapping[Path, int] = EMPTY
) -> Final | None:
    """The last words of the newest turn on what was delivered, behind these `sizes` of its transcripts."""
    how = recipe.transcript
    if how is None:
        return None
    wanted = marks([how.asked, how.said, how.ended])
    for file in reversed(_files(world, member, recipe)):
        try:
            found = final_words(transcripts.items(file, wanted, sizes.get(file, 0)), how, delivery.text)
        except DiskFailed:
            continue  # the screen is there still
        if found:
            return found
    return None


def _awaited(world: World, seen: Seen, delivery: Delivery, before: Baseline) -> Final | None:
    """Again for a moment while the transcript lags behind the screen."""
    recipe = seen.recipe
    if recipe is None or recipe.transcript is None or not can_be_found(recipe):
        return None
    until = world.clock.now() + LATE
    while True:
        found = final(world, seen.member, recipe, delivery, before.sizes)
        failed = seen.reading.state is State.ERRORED
        if (found and (found.ended or failed or not recipe.transcript.ended)) or world.clock.now() >= until:
            return found
        world.clock.pause(LOOK_EVERY)


def _files(world: World, member: Member, recipe: Recipe) -> list[Path]:
    """The transcripts of a member's present launch, the likeliest last."""
    how = recipe.transcript
    if how and how.files:
        since = member.launched_at or world.clock.now()
        return [file for file, _ in transcripts.owned(how, member.path, since, world.environ)]
    key = recipe.hooks.transcript if recipe.hooks else ""
    named = (told(report, key) for report in world.store.reports_since(member, 0)) if key else ()
    return list(dict.fromkeys(Path(text) for text in named if text))
