"""A score of recorded screens as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.core.frames import Scored
    from fan.verbs.score import Score

HEAD = ("agent", "size", "true state", "read as")


def table(what: Score) -> str:
    """What was read by agent, size and true state, frames in transition apart; then a line an agent."""
    cells: dict[tuple[str, str, str], Counter[str]] = {}
    for one in what.scored:
        cells.setdefault((one.frame.agent, one.frame.size, _label(one)), Counter())[one.state] += 1
    rows = [(*map(one_line, key), _counts(cells[key])) for key in sorted(cells)]
    return f"{aligned([HEAD, *rows])}\n{''.join(_agent(what, name) for name in what.matrix())}"


def slips(what: Score) -> str:
    """File, true state, what was read and why, of each frame wrongly read as rest and of each rest not recognised."""
    parts = (("NOT AT REST, read as rest", what.false_rests), ("at rest, not recognised", what.missed_rests))
    return "".join(f"\n{title}:\n{aligned([_slip(one) for one in found])}" for title, found in parts if found)


def passed_over(what: Score) -> list[str]:
    """What was not scored, a line each."""
    lines = [f"skipped {one_line(agent)}: there is no recipe of that name" for agent in what.skipped]
    if what.unlabelled:
        names = ", ".join(map(one_line, what.unlabelled[:3]))
        more = f" and {len(what.unlabelled) - 3} more" if len(what.unlabelled) > 3 else ""
        lines.append(f"skipped {names}{more}: no .json with the true state beside it")
    return lines


def _label(one: Scored) -> str:
    return f"{one.frame.state}, in transition" if one.frame.transition else one.frame.state


def _agent(what: Score, name: str) -> str:
    own = [one for one in what.scored if one.frame.agent == name]
    settled = _figures([one for one in own if not one.frame.transition])
    moving = [one for one in own if one.frame.transition]
    apart = f"; {len(moving)} more in transition: {_figures(moving)}" if moving else ""
    return f"{one_line(name)}: {settled}{apart}\n"


def _figures(scored: Sequence[Scored]) -> str:
    rests = [one for one in scored if one.frame.state == "rest"]
    known = sum(not one.is_missed_rest for one in rests)
    share = f" ({known / len(rests):.1%})" if rests else ""
    wrong, others = sum(one.is_false_rest for one in scored), len(scored) - len(rests)
    return f"{known} of {len(rests)} rest frames recognised{share}, {wrong} of {others} others read as rest"


def _slip(one: Scored) -> tuple[str, ...]:
    read = f"{one.state} ({one.kind})" if one.kind else one.state
    return tuple(one_line(cell) for cell in (one.frame.file, _label(one), read, one.why))


def _counts(read: Counter[str]) -> str:
    return ", ".join(f"{state} {count}" for state, count in read.most_common())
