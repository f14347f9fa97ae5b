"""One way to name a member, in every verb: id or prefix, session, branch, `GROUP:N`, pane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fan.core.model import Group, Member
from fan.courier.housekeeping import close_orphans, orphans
from fan.errors import Ambiguous, FanError, NotFound, OwnChat
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
            raise Ambiguous(
                f"`{text}` fits several members: {shown}", not_done="nothing was done", hint="fan ls --all"
            )
    near = [one for one in everybody if one.group.repo == repo] or everybody
    raise NotFound(_unknown(text, near), not_done="nothing was done", hint="fan ls --all")


def not_caller(world: World, one: Known, not_done: str, hint: str = "fan ls") -> Known:
    """`one`, which is not the caller itself. Raises OwnChat."""
    if world.caller.member and world.caller.member.id == one.member.id:
        raise OwnChat(f"{one.name} is you", not_done=not_done, hint=hint)
    return one


def removed(world: World, text: str) -> Known | None:
    """The removed member that `text` names, as it would name a living one: of several the one that went last."""
    groups, repo = {group.id: group for group in world.store.groups(living=False)}, here(world)
    gone = [Known(one, groups[one.group]) for one in world.store.members(living=False) if one.removed_at is not None]
    for fits in (_exactly(text), _by_prefix(text)):
        found = [one for one in gone if fits(one)]
        if found:
            return max(found, key=lambda one: (one.group.repo == repo, one.member.removed_at or 0.0))
    return None


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


def members_meant(world: World, names: Sequence[str]) -> tuple[list[Known], list[Known]]:
    """All members that these names of groups and members mean, each once, and of these the ones named themselves.

    A name that fits both means the group; what is of the repository we stand in comes before all that is not.
    Raises NotFound, Ambiguous.
    """
    everybody, groups, repo = known(world), world.store.groups(), here(world)
    own_groups = [group for group in groups if group.repo == repo]
    own = [one for one in everybody if one.group in own_groups]
    found: list[Known] = []
    named: list[Known] = []
    for text in names:
        try:
            meant = _group_or_member(own_groups, own, text)
        except NotFound:
            meant = _group_or_member(groups, everybody, text)
        if isinstance(meant, Known):
            named.append(meant)
            found.append(meant)
        else:
            found += [one for one in everybody if one.group == meant]
    return list(dict.fromkeys(found)), named


def _group_or_member(groups: Sequence[Group], everybody: Sequence[Known], text: str) -> Group | Known:
    try:
        return find_group(groups, text, None)
    except NotFound:
        return find(everybody, text, None)


def _only(groups: Sequence[Group]) -> Group:
    if not groups:
        raise NotFound("there is no group in this place", not_done="nothing was done", hint="fan ls --all")
    if len(groups) > 1:
        names = ", ".join(group.stem for group in groups)
        raise Ambiguous(f"this repository has several groups: {names}", not_done="nothing was done", hint="fan ls")
    return groups[0]


def _exactly(text: str) -> Callable[[Known], bool]:
    def fits(one: Known) -> bool:
        member = one.member
        names = (member.id, member.session, member.branch, one.name, one.name.removeprefix("fan/"), member.pane)
        return bool(text) and text in names

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
