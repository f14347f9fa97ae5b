"""Removal, everywhere the same (spec 8): agents stopped first, all work recorded, the folder kept in the trash."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import json
from msgspec.structs import replace

from fan.core.model import Member, Row, Step, Typed
from fan.core.naming import new_id
from fan.courier.housekeeping import close_deliveries
from fan.errors import Blocked, Dirty, FanError, NotFound
from fan.verbs.rows import rows
from fan.verbs.setting_up import take_down
from fan.verbs.target import Known
from fan.world import processes
from fan.world.files import private_folder
from fan.world.git import Merged, Work
from fan.world.git.lock import file_lock
from fan.world.paths import trash_of
from fan.world.processes import Process
from fan.world.store.removals import Archive, Removal
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Left:
    """A member that could not be removed, and why."""

    session: str
    reason: str


@dataclass(slots=True)
class Taken:
    """What a removal did: rows as they were before it, what stays, lines for the person, and the merge before it."""

    removed: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    merged: Merged | None = None


def exit_code(done: Sequence[Row], left: Sequence[Left]) -> int:
    """0 all of it happened, 1 none of it, 5 some."""
    if not left:
        return 0
    return 5 if done else 1


def alone(world: World) -> AbstractContextManager[None]:
    """While it is held no other removal and no undo of the person's runs: two `keep` never take each other's winner.

    Raises Busy.
    """
    return file_lock(private_folder(world.paths.state) / "removing.lock")


def remove_all(
    world: World, members: Sequence[Known], verb: str, *, discard: bool = False, merged: Merged | None = None
) -> Taken:
    """Remove each of `members`; one that cannot be is left whole and reported, the others go.

    All that one call takes away is one removal, which `undo` brings back as a whole. The caller is `alone`;
    `merged` is what it merged before.
    """
    taken = Taken(merged=merged)
    if not members:
        return taken
    before = {row.id: row for row in rows(world, members)}
    removal = Removal(_id(), members[0].group.repo, verb, world.clock.now())
    world.store.add_removal(removal)
    for one in members:
        try:
            _remove(world, one, removal, taken, discard=discard)
        except FanError as error:
            reason = f"{error.message} {error.not_done}".strip()
            taken.left.append(Left(one.member.session, reason + (f" Next: {error.hint}" if error.hint else "")))
        else:
            taken.removed.append(before[one.member.id])
    return taken


def _remove(world: World, one: Known, removal: Removal, taken: Taken, *, discard: bool) -> None:
    """Look, stop the agent, look again under the lock, record, move away."""
    member = one.member
    if not member.path.exists() and _never_made(member):
        _stop(world, member)
        _forget(world, member)
        return
    repo = world.git.repository(one.group.repo)
    work = repo.inspect(member.path, member.base_oid) if member.path.exists() else None
    if work:
        _refuse_early(work, discard=discard)
    _stop(world, member)
    taken.notes += [f"{member.branch}: {note}" for note in _others_inside(member.path)]
    archive = _archive(world, member, removal, taken.merged)
    if not member.path.exists() and not archive.place.exists() and not repo.knows(member.path):
        _forget(world, member)
        taken.notes.append(f"{member.branch}: its worktree was gone already")
        return
    world.store.archive(archive)
    removed = repo.remove(
        member.path,
        archive=archive.id,
        trash=archive.trash,
        expect=work.identity if work else None,
        base_oid=member.base_oid,
        at=world.clock.now(),
        discard=discard,
        on_step=_taking_down(world, one, taken),
    )
    if _gives_its_name_back(world, member, work):
        repo.undo_create(member.path, member.branch, member.base_oid)
    _tidy(world, member)
    world.store.removed(archive.id, world.clock.now(), discarded=discard)
    by_hand = ("its branch was there before it became a member, and stays",) if member.adopted else ()
    notes = (*by_hand, *_had(work, discard=discard), *removed.notes)
    taken.notes += [f"{member.branch}: {note}" for note in notes]


def _taking_down(world: World, one: Known, taken: Taken) -> Callable[[str], None]:
    """Has the teardown run once its work is on record, whatever the teardown then deletes."""

    def on_step(step: str) -> None:
        if step == "saved":
            taken.notes.extend(f"{one.member.branch}: {note}" for note in take_down(world, one.group, one.member))

    return on_step


def _archive(world: World, member: Member, removal: Removal, merged: Merged | None) -> Archive:
    """Where it goes; a removal of it that was broken off is gone on with, for the folder may lie there already."""
    note = json.encode(merged).decode() if merged else ""
    begun = world.store.unfinished(member.id)
    if begun:
        return replace(begun, removal=removal.id, note=note)
    return Archive(_id(), removal.id, member.id, member.path, _trash(world, member), note, world.clock.now())


def _refuse_early(work: Work, *, discard: bool) -> None:
    """What cannot be archived is refused before the agent is stopped."""
    if work.locked is not None:
        raise Blocked(f"{work.path} is locked in git: {work.locked}", hint=f"git worktree unlock '{work.path}'")
    if work.problems and not discard:
        raise Dirty(
            f"{work.path} holds work that the archive cannot keep: {'; '.join(work.problems)}.",
            not_done="Nothing was removed.",
            hint="commit and push it there, or remove with --discard",
        )


def _had(work: Work | None, *, discard: bool) -> list[str]:
    """What work a removed member had, by number and a few names."""
    if work is None:
        return []
    kinds = (
        (work.ahead, "commit", [f"{one.oid[:10]} {one.subject}" for one in work.commits[:1]]),
        (work.staged_count, "staged file", work.staged),
        (work.modified_count, "changed file", work.modified),
        (work.untracked_count, "untracked file", work.untracked),
        (work.ignored_count, "ignored file", work.ignored),
    )
    verb = "discarded" if discard else "kept in the archive"
    parts = [
        f"{count} {what}{'s' if count != 1 else ''} ({', '.join(names[:3])})" for count, what, names in kinds if count
    ]
    notes = [f"{', '.join(parts)}: {verb}"] if parts else []
    if work.ahead:
        notes.append(f"its branch stays, at {work.oid[:10]}")
    return notes + [f"git stash entry made there: {entry}" for entry in work.stashes]


def _stop(world: World, member: Member) -> None:
    """End the member's session and what descends from its agent, by process id and start time."""
    pane = next((pane for pane in world.tmux.panes() if pane.launch == member.launch), None)
    if pane is None:
        return
    family = [] if pane.dead else processes.descendants(pane.pid)
    world.tmux.end_session(pane.session_id)
    processes.end(family)


def _others_inside(path: Path) -> list[str]:
    """Programs that stand in the folder and are not ours to end."""
    me = processes.own().pid
    others: list[Process] = [one for one in processes.inside(path) if one.pid != me]
    if not others:
        return []
    shown = ", ".join(f"{one.name} ({one.pid})" for one in others[:5])
    return [f"still in its folder, and not ended: {shown}; that folder is now gone from under them"]


def _trash(world: World, member: Member) -> Path:
    """On the file system of the worktree: that of the other worktrees, or beside one that was made elsewhere."""
    if not member.adopted:
        return trash_of(member.path.parent.parent)
    ours, beside = private_folder(world.paths.worktrees), member.path.parent
    return trash_of(ours if not beside.exists() or ours.stat().st_dev == beside.stat().st_dev else beside)


def _never_made(member: Member) -> bool:
    return member.step in (Step.FAILED, Step.PLANNED)


def _gives_its_name_back(world: World, member: Member, work: Work | None) -> bool:
    """Whether its branch, if it is still at the base, goes too: nothing was ever typed to its agent or made there.

    Never that of a member that a person has named or brought along.
    """
    prompts = world.store.deliveries(member.id)
    untouched = bool(prompts) and all(delivery.typed is Typed.NO for delivery in prompts)
    return untouched and not member.adopted and (not member.pane or (work is not None and not work.any))


def _forget(world: World, member: Member) -> None:
    """A member of which nothing is there leaves no archive."""
    _tidy(world, member)
    world.store.update_member(member.id, removed_at=world.clock.now(), step=Step.REMOVED)


def _tidy(world: World, member: Member) -> None:
    """What belonged to the member alone: its prompts and folders of ours. Before its record: it can be done twice."""
    close_deliveries(world, member, "its member was removed")
    world.store.release(member.id)
    world.paths.hold(member.id).unlink(missing_ok=True)
    for folder in (world.paths.member(member.id), world.paths.runtime / f"tmux-{member.id}"):
        shutil.rmtree(folder, ignore_errors=True)


def group_of(members: Sequence[Known], group_id: str) -> list[Known]:
    """The members of one group. Raises NotFound when there are none."""
    found = [one for one in members if one.group.id == group_id]
    if not found:
        raise NotFound("the group has no members", not_done="nothing was removed", hint="fan ls")
    return found


def _id() -> str:
    return new_id(random.SystemRandom().choice)
