"""One way to name a member, in every verb: id or prefix, session, branch, `GROUP:N`, pane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fan.core.model import Group, Member
from fan.courier.housekeeping import close_orphans, orphans
from fan.errors import Ambiguous, FanError, NotFound
from fan.world.world import World

if TYPE_CHECKING:
    from fan.world.git import Repository

    Enter = Callable[[Path], Repository]

SHORTEST_PREFIX = 4


class Known(Struct, frozen=True):
    """A living member with its group."""

    member: Member
    group: Group

    @property
    def name(self) -> str:
        """`GROUP:N`."""
        return f"{self.group.stem}:{self.member.n}"


def known(world: World) -> list[Known]:
    """All living members with their groups, by group and number; what a dead `fan N` left open is closed first."""
    groups, members = {group.id: group for group in world.store.groups()}, world.store.members()
    if orphans(groups.values(), members):
        close_orphans(world)
        members = world.store.members()
    return [Known(member, groups[member.group]) for member in members if member.group in groups]


def here(world: World, enter: Enter | None = None) -> Path | None:
    """The repository we stand in, or None."""
    try:
        return (enter or world.git.repository)(world.cwd).root
    except FanError:
        return None


def find(everybody: Sequence[Known], text: str, repo: Path | None) -> Known:
    """The member that `text` names; inside a repository its own come first. Raises NotFound, Ambiguous."""
    for fits in (_exactly(text), _by_prefix(text)):
        found = [one for one in everybody if fits(one)]
        own = [one for one in found if one.group.repo == repo]
        found = own or found
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(f"{one.member.id} ({one.name} in {one.group.repo})" for one in found)
            raise Ambiguous(f"`{text}` fits several members: {shown}", not_done="nothing was done", hint="use an id")
    raise NotFound(_unknown(text, everybody), not_done="nothing was done", hint="fan ls --all")


def removed(world: World, text: str) -> list[Member]:
    """The removed members that `text` names, by id, session or branch; the last one is the newest."""
    gone = [one for one in world.store.members(living=False) if one.removed_at is not None]
    return sorted(
        (one for one in gone if text in (one.id, one.session, one.branch)), key=lambda one: one.removed_at or 0.0
    )


def find_group(groups: Sequence[Group], text: str, repo: Path | None) -> Group:
    """The living group that `text` names, by stem or id; inside a repository its own come first."""
    found = [group for group in groups if text in (group.stem, group.id, group.stem.removeprefix("fan/"))]
    found = [group for group in found if group.repo == repo] or found
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(f"{group.id} (in {group.repo})" for group in found)
        raise Ambiguous(
            f"group `{text}` is in several repositories: {shown}", not_done="nothing was done", hint="fan ls"
        )
    meant = _meant(text, [group.stem for group in groups])
    raise NotFound(f"there is no group `{text}`{meant}", not_done="nothing was done", hint="fan ls --all")


def group_members(world: World, text: str | None) -> list[Known]:
    """The members of the group `text`; of no name, those of the group we stand in or of the repository's only one.

    Raises NotFound, and Ambiguous where the repository has several groups.
    """
    everybody, groups, repo = known(world), world.store.groups(), here(world)
    if text is not None:
        group = find_group(groups, text, repo)
    else:
        inside = [one.group for one in everybody if world.cwd.is_relative_to(one.member.path)]
        group = _only(inside or [group for group in groups if group.repo == repo])
    return [one for one in everybody if one.group == group]


def _only(groups: Sequence[Group]) -> Group:
    if not groups:
        raise NotFound("there is no group in this place", not_done="nothing was done", hint="fan ls --all")
    if len(groups) > 1:
        names = ", ".join(group.stem for group in groups)
        raise Ambiguous(f"this repository has several groups: {names}", not_done="nothing was done", hint="name one")
    return groups[0]


def _exactly(text: str) -> Callable[[Known], bool]:
    def fits(one: Known) -> bool:
        member = one.member
        names = (member.id, member.session, member.branch, one.name, one.name.removeprefix("fan/"), member.pane)
        return text in names

    return fits


def _by_prefix(text: str) -> Callable[[Known], bool]:
    return lambda one: len(text) >= SHORTEST_PREFIX and one.member.id.startswith(text)


def _unknown(text: str, everybody: Sequence[Known]) -> str:
    names = [name for one in everybody for name in (one.member.branch, one.member.session, one.name)]
    return f"there is no member `{text}`{_meant(text, names)}"


def _meant(text: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(text, list(names), n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
