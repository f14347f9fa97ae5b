"""Members as they stand now: one look at tmux, the reports on record, and the reading that follows from both.

`fan ls` and the courier see through this same function, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fan.core import reading as readings
from fan.core.model import Look, Member, Pane, Report
from fan.core.reading import Reading, read
from fan.core.recipe import Recipe
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


def see(
    tmux: Tmux, catalogue: Catalogue, members: Sequence[Member], reports: Mapping[str, Report], now: float
) -> dict[str, Seen]:
    """Every member's standing, by id. A look that failed is evidence of nothing and is shown as that."""
    try:
        panes = {pane.launch: pane for pane in tmux.panes() if pane.launch}
        mine = {member.id: panes.get(member.launch) for member in members}
        wanted = [pane.id for member in members if (pane := mine[member.id]) and not member.hold]
        looks = tmux.looks(wanted, now)
    except TmuxFailed as error:
        return {member.id: Seen(member, None, None, readings.unseen(error.message)) for member in members}
    seen = {}
    for member in members:
        pane = mine[member.id]
        look = looks.get(pane.id) if pane else None
        try:
            recipe = catalogue.recipe(member.agent)
        except FanError as error:
            seen[member.id] = Seen(member, pane, look, readings.unseen(error.message))
            continue
        reading = _reading(recipe, member, pane, look, reports.get(member.id))
        seen[member.id] = Seen(member, pane, look, reading, recipe)
    return seen


def _reading(recipe: Recipe, member: Member, pane: Pane | None, look: Look | None, report: Report | None) -> Reading:
    if pane is None:
        return readings.gone()
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
    return " / ".join(shown[-lines:])[:300]
