"""`fan events`: what has happened, in order and numbered, and what happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fan.core.defaults import EVENTS_SHOWN
from fan.core.events import Event, gaps_told
from fan.world.bells import EVENTS, Bells
from fan.world.world import World

PAGE = 500
SAFETY = 5.0


@dataclass(frozen=True, slots=True)
class EventsRequest:
    """Events behind number `after` (None: the newest ones), at most `limit`; with `follow` also all that come."""

    after: int | None = None
    limit: int = EVENTS_SHOWN
    follow: bool = False


def events(world: World, request: EventsRequest) -> Iterator[Event]:
    """The events, oldest first; what is no longer kept is told as a gap. With `follow` it does not end by itself."""
    with Bells(world.paths.runtime, [EVENTS] if request.follow else []) as bells:
        after = _begin(world, request)
        left = request.limit
        while True:
            page = world.store.events(after, PAGE if request.follow else min(left, PAGE))
            yield from gaps_told(page, after)
            after, left = page[-1].seq if page else after, left - len(page)
            if not page and not request.follow:
                return
            if not request.follow and left <= 0:
                return
            if not page:
                bells.wait(SAFETY)


def names(world: World) -> dict[str, str]:
    """What members are called, those that are gone too, by id."""
    stems = {group.id: group.stem for group in world.store.groups(living=False)}
    return {one.id: f"{stems.get(one.group, '?')}:{one.n}" for one in world.store.members(living=False)}


def _begin(world: World, request: EventsRequest) -> int:
    """The number behind which to begin; that the oldest are no longer kept is then no gap."""
    if request.after is not None:
        return request.after
    return max(world.store.last_event() - request.limit, world.store.first_event() - 1, 0)
