"""`fan ls`: the members as they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from fan.core.model import Row, State, Status
from fan.core.reading import COPY_MODE, DRAFT, LEFT
from fan.core.standing import is_stuck
from fan.courier import start as courier
from fan.errors import UsageError
from fan.verbs.handmade import handmade
from fan.verbs.rows import rows
from fan.verbs.target import Known, find_group, here, known
from fan.world.files import is_folder
from fan.world.world import World

if TYPE_CHECKING:
    from fan.verbs.target import Enter

WATCH_EVERY = 1.0
IN_THE_WAY = (COPY_MODE, DRAFT, LEFT)
"""How the note of a prompt begins that stands behind something of the person's."""


class ListRequest(Struct, frozen=True):
    """Which members to show. Inside a repository its own, unless `everywhere`."""

    group: str | None = None
    repo: str | None = None
    everywhere: bool = False
    waiting: bool = False
    git: bool = True


class Listing(Struct, frozen=True):
    """Rows by repository, group and number, then worktrees that are no member's; `hint` names the next command."""

    rows: list[Row] = field(default_factory=list)
    hint: str = ""


def ls(world: World, request: ListRequest) -> Listing:
    """The members that the request asks for; the same answer with and without the courier."""
    if request.group and request.everywhere:
        raise UsageError("--group and --all exclude each other", hint="fan ls --group G")
    everybody = members = known(world)
    # Each repository is entered once for the whole list, and no list relies on what an earlier one found.
    enter = cache(world.git.repository)
    repo = enter(world.cwd / request.repo).root if request.repo else here(world, enter)
    if request.group:
        group = find_group(world.store.groups(), request.group, repo)
        members = [one for one in members if one.group == group]
    elif repo and not request.everywhere:
        members = [one for one in members if one.group.repo == repo]
    if members:
        courier.ensure_if_pending(world)
    found = rows(world, members, git=request.git, enter=enter)
    if request.waiting:
        found = [row for row in found if waits_for_person(row)]
    hint = _waiting(world, found) if request.waiting else _gone(found) if found else _hint(world)
    return Listing(found + _handmade(enter, request, repo, everybody), hint)


def _handmade(enter: Enter, request: ListRequest, repo: Path | None, members: Sequence[Known]) -> list[Row]:
    """What else is checked out in these repositories; nobody waits there, and no group has it."""
    if request.waiting or request.group:
        return []
    repos = {repo} if repo else set()
    if request.everywhere or not repo:
        repos |= {one.group.repo for one in members}
    return handmade(enter, repos, members)


def _gone(found: Sequence[Row]) -> str:
    """What brings back the sessions that a reboot or a killed server has ended."""
    count = sum(row.gone and bool(row.agent) and bool(is_folder(Path(row.path))) for row in found)
    if count == 1:
        return "1 session is gone; fan resume opens it again"
    return f"{count} sessions are gone; fan resume opens them again" if count else ""


def watch(world: World, request: ListRequest, show: Callable[[Listing], None]) -> None:
    """Show the members again and again, about once a second, until interrupted."""
    while True:
        show(ls(world, request))
        world.clock.pause(WATCH_EVERY)


def waits_for_person(row: Row) -> bool:
    """Whether only the person can bring this member on: an answer, a way cleared for a prompt, a session again."""
    if row.prompt_status == Status.PENDING and (row.gone or row.prompt_note.startswith(IN_THE_WAY)):
        return True
    return row.state == State.NEEDS_INPUT or (bool(row.pane) and is_stuck(row.prompt_status, row.state))


def _waiting(world: World, found: Sequence[Row]) -> str:
    """What lies in the person's inbox besides; of the members themselves the rows tell."""
    from fan.core.alerts import counted
    from fan.core.mail import HUMAN
    from fan.courier.alerting import close_of_gone

    close_of_gone(world)
    mail = counted(world.store.waiting(HUMAN))
    told = [f"{mail}: fan mail read human" if mail else "", _gone(found)]
    return "; ".join(part for part in told if part) or ("" if found else "nobody waits for you")


def _hint(world: World) -> str:
    if world.store.groups():
        return "none here; fan ls --all shows those of other repositories"
    return "nothing is running; start with: fan 3 --agent demo 'your prompt'"
