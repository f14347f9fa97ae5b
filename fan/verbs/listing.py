"""`fan ls`: the members as they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fan.core.model import Row, State, Status
from fan.courier import start as courier
from fan.errors import UsageError
from fan.verbs.rows import rows
from fan.verbs.target import find_group, here, known
from fan.world.world import World

WATCH_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which members to show. Inside a repository its own, unless `everywhere`."""

    group: str | None = None
    repo: str | None = None
    everywhere: bool = False
    waiting: bool = False
    git: bool = True


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows by repository, group and number; `hint` names the next command when there is nothing to show."""

    rows: list[Row] = field(default_factory=list)
    hint: str = ""


def ls(world: World, request: ListRequest) -> Listing:
    """The members that the request asks for; the same answer with and without the courier."""
    if request.group and request.everywhere:
        raise UsageError("--group and --all exclude each other", hint="fan ls --group G")
    members = known(world)
    repo = world.git.repository(world.cwd / request.repo).root if request.repo else here(world)
    if request.group:
        group = find_group(world.store.groups(), request.group, repo)
        members = [one for one in members if one.group == group]
    elif repo and not request.everywhere:
        members = [one for one in members if one.group.repo == repo]
    if members:
        courier.ensure_if_pending(world)
    found = rows(world, members, git=request.git)
    if request.waiting:
        found = [row for row in found if waits_for_person(row)]
    return Listing(found, "" if found else _hint(world, request))


def watch(world: World, request: ListRequest, show: Callable[[Listing], None]) -> None:
    """Show the members again and again, about once a second, until interrupted."""
    while True:
        show(ls(world, request))
        world.clock.pause(WATCH_EVERY)


def waits_for_person(row: Row) -> bool:
    """Whether only the person can bring this member on."""
    stuck = row.prompt_status == Status.NOT_SENT and row.state not in (State.EXITED, State.WORKING)
    return row.state == State.NEEDS_INPUT or stuck


def _hint(world: World, request: ListRequest) -> str:
    if request.waiting:
        return "nobody waits for you"
    if world.store.groups():
        return "none here; fan ls --all shows those of other repositories"
    return "nothing is running; start with: fan 3 --agent demo 'your prompt'"
