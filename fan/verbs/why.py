"""`fan why`: the screen as the rules saw it, every rule tried, all evidence with ages, and what decided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fan.core.model import Delivery, Look
from fan.core.reading import Reading
from fan.core.secrets import masked
from fan.errors import TargetGone
from fan.verbs.rows import seen_now
from fan.verbs.target import find, here, known
from fan.world.files import write_private
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Tried:
    """One rule of the recipe: what it would prove, where it looks, whether it matched, else what did not."""

    state: str
    kind: str
    region: str
    seen: str
    matched: bool
    failed: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one witness says, how many seconds ago (None: now), and why it does not count (empty: it does)."""

    witness: str
    state: str
    kind: str
    age: float | None
    stale: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a member is in its state. `warning` is what went wrong when its worktree was made, such as a failing hook;
    `saved` names the files of a recorded screen."""

    id: str
    session: str
    agent: str
    state: str
    kind: str
    detail: str
    decided_by: str
    obstacle: str
    composer: str | None
    ghost: str | None
    title: str
    command: str
    evidence: list[Evidence]
    tried: list[Tried]
    deliveries: list[str]
    screen: list[str]
    saved: list[str]
    warning: str
    untrusted: bool = True


def why(world: World, target: str, *, save: bool = False) -> Explanation:
    """Explain the reading of one member; with `save` keep its screen as a recorded one."""
    one = find(known(world), target, here(world))
    member = one.member
    seen = seen_now(world, [member])[member.id]
    reading, look = seen.reading, seen.look
    if save and look is None:
        raise TargetGone(f"{one.name} has no screen: {reading.detail}", not_done="nothing was saved", hint="fan ls")
    saved = _save(world, member.agent, look, reading) if save and look else []
    return Explanation(
        id=member.id,
        session=member.session,
        agent=member.agent,
        state=reading.state.value,
        kind=reading.kind,
        detail=reading.detail,
        decided_by=reading.decided_by.value,
        obstacle=reading.obstacle,
        composer=masked(reading.composer.text) if reading.composer else None,
        ghost=reading.composer.ghost if reading.composer else None,
        title=look.pane.title if look else "",
        command=look.pane.command if look else "",
        evidence=_evidence(reading, world.clock.now()),
        tried=_tried(reading),
        deliveries=[_delivery(one) for one in world.store.deliveries(member.id)],
        screen=masked("\n".join(line.text for line in look.lines)).split("\n") if look else [],
        saved=[str(path) for path in saved],
        warning=masked(member.warning),
    )


def _evidence(reading: Reading, now: float) -> list[Evidence]:
    return [
        Evidence(
            claim.witness.value, claim.state.value, claim.kind, now - claim.at if claim.at else None, claim.stale
        )
        for claim in reading.claims
    ]


def _tried(reading: Reading) -> list[Tried]:
    return [
        Tried(
            one.rule.state.value,
            one.rule.kind or "",
            one.rule.region,
            one.rule.seen,
            matched=one.matched,
            failed=one.failed,
        )
        for one in reading.tried
    ]


def _delivery(delivery: Delivery) -> str:
    """One delivery on one line."""
    parts: Sequence[str] = (
        f"prompt {delivery.id}: {delivery.status} (typed: {delivery.typed}, phase: {delivery.phase})",
        delivery.note,
        delivery.guards,
        f"ready by {delivery.ready_by}" if delivery.ready_by else "",
        f"taken by {delivery.evidence}" if delivery.evidence else "",
    )
    return "; ".join(part for part in parts if part)


def _save(world: World, agent: str, look: Look, reading: Reading) -> list[Path]:
    """The screen and what is known of it, in the format of recorded screens; the state is yours to correct."""
    folder = world.paths.state / "screens" / agent
    name = f"{reading.state}-{int(look.at)}"
    text, about = folder / f"{name}.txt", folder / f"{name}.json"
    pane = look.pane
    write_private(text, masked("\n".join(line.text for line in look.lines)) + "\n")
    facts = {
        "agent": agent,
        "state": reading.state,
        "kind": reading.kind,
        "title": pane.title,
        "current_command": pane.command,
        "cursor": pane.cursor,
        "cursor_flag": pane.cursor_shown,
        "cols": pane.size[0],
        "rows": pane.size[1],
        "pane_dead": pane.dead,
        "how_obtained": "fan why --save",
    }
    write_private(about, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    return [text, about]
