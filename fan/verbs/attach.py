"""`fan attach`: show a member's session to the person, in this terminal or as a window of their own tmux."""

from __future__ import annotations

from dataclasses import dataclass

from fan.core.model import Pane, State, Step
from fan.core.standing import no_session
from fan.errors import NotFound, TargetGone, UsageError
from fan.verbs.listing import waits_for_person
from fan.verbs.rows import rows
from fan.verbs.target import Known, find, here, known
from fan.world import tmux
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class AttachRequest:
    """A member by name, or with `waiting` the first one that waits for the person."""

    target: str | None = None
    waiting: bool = False


def attach(world: World, request: AttachRequest) -> str:
    """Become the client of the member's session; returns its name only where a window was opened instead."""
    one = _which(world, request)
    pane = _pane(world, one)
    tmux.attach(world.tmux, pane)
    return pane.session


def _which(world: World, request: AttachRequest) -> Known:
    members, repo = known(world), here(world)
    if bool(request.target) == request.waiting:
        raise UsageError("name a member, or --waiting", hint="fan ls")
    if request.target:
        return find(members, request.target, repo)
    members = [one for one in members if one.group.repo == repo] or members
    shown = [row for row in rows(world, members, git=False) if row.state != State.EXITED]
    waiting = {row.id for row in shown if waits_for_person(row) and not row.gone}
    found = [one for one in members if one.member.id in waiting]
    if not found:
        raise NotFound("nobody waits for you", not_done="no session was shown", hint="fan ls")
    return found[0]


def _pane(world: World, one: Known) -> Pane:
    pane = world.tmux.pane_of(one.member.launch)
    if pane is None:
        raise TargetGone(
            f"{one.name} cannot be shown: {no_session(one.member)}",
            not_done="no session was shown",
            hint=f"fan resume {one.member.id}" if one.member.step is Step.READY and one.member.agent else "fan ls",
        )
    return pane
