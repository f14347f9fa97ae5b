"""Members as they stand now: one look at tmux, the reports on record, and the reading that follows from both.

`fan ls` and the courier see through this same function, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from fan.core import reading as readings
from fan.core.model import Look, Member, Pane, Report, State
from fan.core.reading import Reading, read
from fan.core.recipe import Recipe
from fan.core.secrets import quoted
from fan.core.standing import no_session
from fan.errors import FanError, TmuxFailed
from fan.world.catalogue import Catalogue
from fan.world.tmux import Tmux


class Seen(Struct, frozen=True):
    """A member with its pane (None: gone), its screen (None: not looked at) and what they mean.

    `recipe` is None where it cannot be used (any more); the reading then says so, and nothing is typed.
    """

    member: Member
    pane: Pane | None
    look: Look | None
    reading: Reading
    recipe: Recipe | None = None
    report: Report | None = None


def see(
    tmux: Tmux,
    catalogue: Catalogue,
    members: Sequence[Member],
    reports: Mapping[str, Report],
    now: float,
    earlier: Mapping[str, Seen] | None = None,
) -> dict[str, Seen]:
    """Every member's standing, by id. A look that failed is evidence of nothing and is shown as that.

    Who rested at an `earlier` look and has not changed since is not read anew.
    """
    try:
        panes, looks = _look(tmux, [one for one in members if one.agent], now)
    except TmuxFailed as error:
        return {member.id: Seen(member, None, None, readings.unseen(error.message)) for member in members}
    recipe_of = cache(catalogue.recipe)
    seen = {}
    for member in members:
        if not member.agent:
            seen[member.id] = Seen(member, None, None, readings.agentless())
            continue
        pane = panes.get(member.launch)
        look = looks.get(pane.id) if pane else None
        try:
            recipe = recipe_of(member.agent)
        except FanError as error:
            seen[member.id] = Seen(member, pane, look, readings.unseen(error.message))
            continue
        report, before = reports.get(member.id), earlier.get(member.id) if earlier else None
        if before and _still_rests(before, member, look, recipe, report):
            reading = before.reading
        else:
            reading = _reading(recipe, member, pane, look, report)
        seen[member.id] = Seen(member, pane, look, reading, recipe, report)
    return seen


def _still_rests(before: Seen, member: Member, look: Look | None, recipe: Recipe, report: Report | None) -> bool:
    """Whether all is as it was at a reading of rest: by time alone, rest becomes nothing else."""
    if before.reading.state is not State.REST or before.look is None or look is None:
        return False
    is_same_screen = (before.look.pane, before.look.lines) == (look.pane, look.lines)
    return is_same_screen and (before.member, before.report) == (member, report) and before.recipe is recipe


def _look(tmux: Tmux, members: Sequence[Member], at: float) -> tuple[dict[str, Pane], dict[str, Look]]:
    """Panes by launch and looks by pane: at once where the record has them, else wherever they are found."""
    recorded = [one.pane for one in members if one.pane and not one.hold]
    looks = tmux.looks(recorded, at) if recorded else {}
    panes = {look.pane.launch: look.pane for look in looks.values() if look.pane.launch}
    if all(one.launch in panes for one in members):
        return panes, looks
    panes = {pane.launch: pane for pane in tmux.panes() if pane.launch}
    found = [panes[one.launch].id for one in members if one.launch in panes and not one.hold]
    others = [pane for pane in found if pane not in looks]
    return panes, looks | (tmux.looks(others, at) if others else {})


def _reading(recipe: Recipe, member: Member, pane: Pane | None, look: Look | None, report: Report | None) -> Reading:
    if pane is None:
        return readings.gone(no_session(member))
    if member.hold and not pane.dead:
        return readings.held()
    if look is None:
        return readings.unseen("its pane could not be looked at")
    return read(recipe, look, report, member.launched_at)


def last_words(look: Look | None, lines: int = 3) -> str:
    """The last lines of a screen on one line, for a note."""
    if look is None:
        return ""
    texts = [line.text.strip() for line in look.lines if line.text.strip()]
    shown = [text for text in texts if not text.startswith(("Pane is dead", "the agent has exited"))]
    return quoted(" / ".join(shown[-lines:]))[:300]
