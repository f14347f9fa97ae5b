"""Removal, everywhere the same: agents stopped first, all work recorded, the folder kept in the trash."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import json
from msgspec.structs import replace

from fan.core.model import Member, Row, Step, Typed
from fan.courier.housekeeping import close_deliveries
from fan.errors import Dirty, DiskFailed, FanError, NotFound
from fan.verbs.left import Left, exit_code
from fan.verbs.rows import rows
from fan.verbs.setting_up import take_down
from fan.verbs.target import Known
from fan.world import locks, processes
from fan.world.files import delete, is_folder, must_see, private_folder, there
from fan.world.git import Merged, Work, guard
from fan.world.ids import new_id
from fan.world.paths import trash_of
from fan.world.processes import Process
from fan.world.store.removals import Archive, Removal
from fan.world.world import World

BRANCH_WENT = "its branch went with it: nothing was typed to its agent, and the branch had nothing of its own"


@dataclass(frozen=True, slots=True)
class Removed:
    """What went (rows as they were), what stayed and why, and what the person should know."""

    removed: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all went, 1 none did, 5 some."""
        return exit_code(self.removed, self.left)


def alone(world: World) -> AbstractContextManager[None]:
    """While it is held no other removal and no undo of the person's runs: two `keep` never take each other's winner.

    Raises Busy.
    """
    return locks.held(private_folder(world.paths.state) / "removing.lock")


def remove_all(
    world: World, members: Sequence[Known], verb: str, *, discard: bool = False, merged: Merged | None = None
) -> Removed:
    """Remove each of `members`; one that cannot be is left whole and reported, the others go.

    All that one call takes away is one removal, which `undo` brings back as a whole. The caller is `alone`;
    `merged` is what it merged before.
    """
    result = Removed()
    if not members:
        return result
    before = {row.id: row for row in rows(world, members)}
    removal = Removal(new_id(), members[0].group.repo, verb, world.clock.now())
    world.store.add_removal(removal)
    merge = json.encode(merged).decode() if merged else ""
    for one in members:
        try:
            _remove(world, one, removal, merge, result, discard=discard)
        except FanError as error:
            result.left.append(Left.because(one.member.session, error))
        else:
            result.removed.append(before[one.member.id])
    if not result.removed and not world.store.archives(removal.id):
        world.store.undone(removal.id, world.clock.now())
    return result


def _remove(world: World, one: Known, removal: Removal, merge: str, result: Removed, *, discard: bool) -> None:
    """Look, stop the agent, look again under the lock, record, move away."""
    member = one.member
    must_see(member.path, "nothing was removed")
    if not is_folder(member.path) and _never_made(member):
        result.notes.extend(f"{member.branch}: {note}" for note in _stop(world, member))
        _forget(world, member)
        return
    repo = world.git.repository(one.group.repo)
    work = repo.inspect(member.path, member.base_oid) if is_folder(member.path) else None
    if work:
        _refuse_early(work, discard=discard)
    still = _stop(world, member)
    result.notes.extend(f"{member.branch}: {note}" for note in (*still, *_others_inside(member.path)))
    archive = _archive(world, member, removal, merge)
    if not is_folder(member.path) and not there(archive.place) and not repo.knows(member.path):
        _forget(world, member)
        result.notes.append(f"{member.branch}: its worktree was gone already")
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
        on_step=_taking_down(world, one, result),
    )
    if _gives_its_name_back(world, member, work) and repo.undo_create(member.path, member.branch, member.base_oid):
        result.notes.append(f"{member.branch}: {BRANCH_WENT}")
    _tidy(world, member)
    world.store.removed(archive.id, world.clock.now(), discarded=discard)
    by_hand = ("its branch was there before it became a member, and stays",) if member.adopted else ()
    notes = (*by_hand, *_had(work, discard=discard), *removed.notes)
    result.notes.extend(f"{member.branch}: {note}" for note in notes)


def _taking_down(world: World, one: Known, result: Removed) -> Callable[[str], None]:
    """Has the teardown run once its work is on record, whatever the teardown then deletes."""

    def on_step(step: str) -> None:
        if step == "saved":
            result.notes.extend(f"{one.member.branch}: {note}" for note in take_down(world, one.group, one.member))

    return on_step


def _archive(world: World, member: Member, removal: Removal, merge: str) -> Archive:
    """Where it goes; a removal of it that was broken off is gone on with, for the folder may lie there already."""
    begun = world.store.unfinished(member.id)
    if begun:
        return replace(begun, removal=removal.id, note=merge)
    return Archive(new_id(), removal.id, member.id, member.path, _trash(world, member), merge, world.clock.now())


def _refuse_early(work: Work, *, discard: bool) -> None:
    """What cannot be archived is refused before the agent is stopped."""
    if work.locked is not None:
        raise guard.locked(work.path, work.locked)
    if work.problems and not discard:
        raise Dirty(
            f"{work.path} holds work that the archive cannot keep: {'; '.join(work.problems)};"
            " what is committed and pushed there is safe, and --discard removes it all the same",
            not_done="nothing was removed",
            hint=f"git -C {shlex.quote(str(work.path))} status",
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


def _stop(world: World, member: Member) -> list[str]:
    """End the member's session and what descends from its agent, by process id and start time; what could not be."""
    pane = world.tmux.pane_of(member.launch)
    if pane is None:
        return []
    family = [] if pane.dead else processes.descendants(pane.pid)
    world.tmux.end_session(pane.session_id)
    return processes.unended(processes.end(family))


def _others_inside(path: Path) -> list[str]:
    """Programs that stand in the folder and are not ours to end."""
    me = processes.own().pid
    others: list[Process] = [one for one in processes.inside(path) if one.pid != me]
    if not others:
        return []
    shown = processes.named(others)
    return [f"still in its folder, and not ended: {shown}; that folder is now gone from under them"]


def _trash(world: World, member: Member) -> Path:
    """On the file system of the worktree: that of the other worktrees, or beside one that was made elsewhere."""
    if not member.adopted:
        return trash_of(member.path.parent.parent)
    ours, beside = private_folder(world.paths.worktrees), member.path.parent
    return trash_of(ours if not is_folder(beside) or ours.stat().st_dev == beside.stat().st_dev else beside)


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
    world.store.close_questions(member.address, world.clock.now())
    world.store.release(member.id)
    delete(world.paths.hold(member.id))
    for folder in (world.paths.member(member.id), world.paths.runtime / f"tmux-{member.id}"):
        with suppress(DiskFailed):  # what others have put there and we cannot delete keeps no member
            delete(folder)


def group_of(members: Sequence[Known], group_id: str) -> list[Known]:
    """The members of one group. Raises NotFound when there are none."""
    found = [one for one in members if one.group.id == group_id]
    if not found:
        raise NotFound("the group has no members", not_done="nothing was removed", hint="fan ls")
    return found
