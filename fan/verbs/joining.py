"""What `worktree new` and `worktree adopt` share: the group that is joined, its base, and the member to be."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from fan.core import naming
from fan.core.model import Group, Member, Row, State, Step
from fan.errors import AlreadyExists, Conflict, UsageError
from fan.verbs import launch
from fan.verbs.plan import base_of
from fan.verbs.rows import rows
from fan.verbs.target import Known, find_group, known
from fan.world import ids, processes
from fan.world.catalogue import Choice
from fan.world.files import there
from fan.world.git import Repository
from fan.world.world import World

NOTHING = "nothing was made"


@dataclass(frozen=True, slots=True)
class Joined:
    """The new member as it stands, and what the person should know of it."""

    member: Row
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """0 it is there, 1 it could not be made, 130 interrupted."""
        failed = 1 if self.member.state == State.EXITED and not self.member.pane and self.member.agent else 0
        return 130 if self.interrupted else failed


@dataclass(frozen=True, slots=True)
class Place:
    """The group to join, and whether it is new. `base_oid` is the commit that the member is compared with."""

    group: Group
    is_new: bool
    base_oid: str


def place(
    world: World,
    repo: Repository,
    branch: str,
    *,
    group: str | None,
    name: str | None = None,
    base: str | None = None,
) -> Place:
    """The living group `group`, else a new one called `name` or as the branch. Raises NotFound, AlreadyExists.

    The base is `base`, else that of the group that is joined, else where we stand.
    """
    living = world.store.groups()
    if group is not None:
        if name is not None:
            raise UsageError("--group and --name exclude each other", not_done=NOTHING, hint="fan ls")
        return _existing(repo, find_group(living, group, repo.root), base)
    stems = {one.stem for one in living if one.repo == repo.root}
    if name is not None:
        repo.check_branch_name(name)
        if name in stems:
            raise AlreadyExists(
                f"group {name} is there already: --group joins it", not_done=NOTHING, hint=f"fan ls --group {name}"
            )
    shown, oid = base_of(repo, base)
    own = processes.own()
    stem = name or naming.free_stem(branch, stems)
    made = Group(ids.new_id(), stem, repo.root, shown, oid, "", world.clock.now(), own.pid, own.started)
    return Place(made, is_new=True, base_oid=oid)


def _existing(repo: Repository, group: Group, base: str | None) -> Place:
    if group.repo != repo.root:
        raise Conflict(f"group {group.stem} is of the repository {group.repo}", not_done=NOTHING, hint="fan ls --all")
    return Place(group, is_new=False, base_oid=repo.resolve(base) if base else group.base_oid)


def member_at(world: World, path: Path) -> Known | None:
    """The member whose worktree is at `path`, however that is written."""
    return next((one for one in known(world) if same(one.member.path, path)), None)


def same(one: Path, other: Path) -> bool:
    """Whether both are one place."""
    return os.path.realpath(one) == os.path.realpath(other)


def member_of(world: World, repo: Repository, where: Place, branch: str, path: Path, choice: Choice | None) -> Member:
    """The member to be: its number in the group comes with its record. Its maker is this process."""
    taken = {one.member.session for one in known(world)}
    own = processes.own()
    return Member(
        id=ids.new_id(),
        group=where.group.id,
        n=1,
        branch=branch,
        path=path,
        session=_session(repo, branch, taken),
        agent=choice.recipe.name if choice else "",
        variant=choice.variant if choice else "",
        base_oid=where.base_oid,
        step=Step.PLANNED,
        launch=ids.new_launch(),
        pid=own.pid,
        pid_started=own.started,
    )


def _session(repo: Repository, branch: str, taken: set[str]) -> str:
    """The branch's own name, or with a letter where that, too, is another's: `a/b` beside `a-b`."""
    name = naming.session_name(repo.name, branch, repo.root, taken.__contains__)
    return naming.free_stem(name, taken)


def recorded(world: World, where: Place, member: Member) -> Member:
    """Put it on record, with its group where that is new."""
    if not where.is_new:
        return world.store.add_member(member)
    world.store.add_group(where.group, [member], [])
    return member


def hold(world: World, where: Place, member: Member, choice: Choice) -> tuple[Member, list[str]]:
    """Held where another one of its group asks for trust, or may; and who will ask."""
    others = world.store.members(where.group.id)
    started = [one for one in others if one.step is Step.READY and not one.hold and one.pane]
    held, asks = launch.held(world, where.group.repo, [choice], started)
    return replace(member, hold=held[0]), asks


def joined(
    world: World, where: Place, member_id: str, notes: tuple[str, ...] = (), *, interrupted: bool = False
) -> Joined:
    """The member as it is now; one of which nothing was made is no member."""
    member = world.store.member(member_id)
    if member.step is Step.FAILED and there(member.path) is False:
        world.store.update_member(member.id, removed_at=world.clock.now())
    (row,) = rows(world, [Known(member, where.group)])
    return Joined(row, notes, interrupted)
