"""Why a member is in its state, for a person."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.fence import fenced
from fan.core.plain import one_line
from fan.render.cells import NOTHING
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.why import Evidence, Explanation, Tried


def explained(what: Explanation) -> str:
    """State and what decided, all evidence, every rule, the prompts, and last the screen between fence lines."""
    parts = (
        aligned(_facts(what)),
        _section("evidence", [_witness(one) for one in what.evidence]),
        _section("rules, in the order tried", [_rule(one) for one in what.tried]),
        _section("prompts", [(one_line(text),) for text in what.deliveries]),
        _section("saved", [(one_line(path),) for path in what.saved]),
        fenced(_shown(what), f"the screen of {what.session}", secrets.token_hex(4)) if what.screen else "",
    )
    return "\n".join(part for part in parts if part)


def _facts(what: Explanation) -> list[tuple[str, str]]:
    state = f"{what.state} ({what.kind})" if what.kind else what.state
    facts = (
        ("member", f"{what.id} {what.session}"),
        ("agent", what.agent),
        ("state", state),
        ("because", what.detail),
        ("decided by", what.decided_by),
        ("not typed into, as", what.obstacle),
        ("program", what.command),
        ("when it was made", what.warning),
    )
    return [(name, one_line(text)) for name, text in facts if text]


def _shown(what: Explanation) -> str:
    """All that the agent itself wrote: title, composer, screen."""
    named = (("title", what.title), ("composer", what.composer), ("suggestion", what.ghost))
    return "\n".join((*(f"{name}: {one_line(text)}" for name, text in named if text), "", *what.screen))


def _witness(one: Evidence) -> tuple[str, ...]:
    age = "now" if one.age is None else f"{one.age:.1f}s ago"
    counts = f"does not count: {one_line(one.stale)}" if one.stale else "counts"
    return one.witness, f"{one.state}/{one.kind}" if one.kind else one.state, age, counts


def _rule(one: Tried) -> tuple[str, ...]:
    proves = f"{one.state}/{one.kind}" if one.kind else one.state
    result = "matched" if one.matched else f"no: {one_line(one.failed)}"
    return proves, one.region, result, one_line(one.seen) or NOTHING


def _section(title: str, table: Sequence[Sequence[str]]) -> str:
    return f"{title}:\n{_indented(aligned(table))}" if table else ""


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
