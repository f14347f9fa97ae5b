"""`fan N`: plan, record, make, wait until the prompts have been taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fan.core.caller import Act
from fan.core.model import Member, Row, State, Status, Step
from fan.core.reading import HELD
from fan.courier import start as courier
from fan.errors import AlreadyExists, UsageError
from fan.verbs.launch import too_large
from fan.verbs.making import Making
from fan.verbs.plan import Plan, StartRequest, plan
from fan.verbs.progress import Listener
from fan.verbs.rows import planned_row, rows
from fan.verbs.target import Known
from fan.world.files import is_folder, private_folder, there
from fan.world.world import World

LOOK_EVERY = 0.15
DIALOG_STANDS = 1.0


@dataclass(frozen=True, slots=True)
class Started:
    """What `fan N` made. `waiting` are members that only the person can bring on.

    `dry_run` made nothing: the members are those that would be, `prompts` what each would be asked.
    """

    group: str
    base: str
    members: list[Row]
    exit_code: int
    waiting: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    dry_run: bool = False
    prompts: tuple[str, ...] = ()


def start(world: World, request: StartRequest, listener: Listener) -> Started:
    """Give one task to several agents. Raises a refusal before anything is made; later failures are in the rows."""
    if not request.dry_run:
        world.allow(Act.FAN_OUT)
    if request.detach and (request.wait or request.timeout is not None):
        message = "--detach waits for nothing: it excludes --wait and --timeout"
        raise UsageError(message, not_done="nothing was made", hint="fan 1 --help")
    planned = _planned(world, request)
    for note in planned.notes:
        listener.say(note)
    if request.dry_run:
        return _dry(planned)
    for name in too_large(world.environ):
        listener.warn(f"{name} is too large for tmux to carry; the agents go without it")
    try:
        Making(world, planned, listener).run()
    except KeyboardInterrupt:
        return _result(world, planned, interrupted=True)
    if request.detach:
        return _result(world, planned, detached=True)
    try:
        in_time = _wait(world, planned, request, listener)
    except KeyboardInterrupt:
        listener.say("detached; the prompts are still sent")
        return _result(world, planned, detached=True)
    return _result(world, planned, timed_out=not in_time)


def _planned(world: World, request: StartRequest, attempts: int = 10) -> Plan:
    """The plan, on record unless it is a dry run; made anew when another start takes its automatic name first."""
    planned = plan(world, request)
    if request.dry_run:
        return planned
    private_folder(world.paths.runtime)
    members = [part.member for part in planned.parts]
    try:
        world.store.add_group(planned.group, members, [part.delivery for part in planned.parts if part.delivery])
    except AlreadyExists:
        if request.name is not None or not attempts:
            raise
        return _planned(world, request, attempts - 1)
    return planned


def _wait(world: World, planned: Plan, request: StartRequest, listener: Listener) -> bool:
    """Until every prompt is sent, not sent, or waits for the person (with `wait`: until none is pending).

    False when the time was up.
    """
    begun = world.clock.now()
    deadline = None if request.timeout is None else begun + request.timeout
    dialogs: dict[str, float] = {}
    while True:
        found = _rows(world, planned)
        listener.rows(found)
        now = world.clock.now()
        dialogs = {row.id: dialogs.get(row.id, now) for row in found if _needs_person(row)}
        stands = {member for member, since in dialogs.items() if now - since >= DIALOG_STANDS}
        pending = [row for row in found if row.prompt_status == Status.PENDING]
        # Nobody brings a session back by itself: what waits for one that is gone is not waited for.
        if not [row for row in pending if row.id not in stands or (request.wait and not row.gone)]:
            return True
        if deadline is not None and now >= deadline:
            return False
        courier.ensure_if_pending(world)
        world.clock.pause(LOOK_EVERY)


def _needs_person(row: Row) -> bool:
    """Pending, and only a person or time can bring it on; a member held for the first one's answer too."""
    if row.prompt_status != Status.PENDING:
        return False
    dialog = row.state == State.NEEDS_INPUT and row.kind != "question"
    return dialog or row.gone or row.state == State.LIMITED or row.detail == HELD


def _rows(world: World, planned: Plan) -> list[Row]:
    members = [world.store.member(part.member.id) for part in planned.parts]
    return rows(world, [Known(member, planned.group) for member in members], git=False)


def _result(
    world: World, planned: Plan, *, detached: bool = False, interrupted: bool = False, timed_out: bool = False
) -> Started:
    members = [world.store.member(part.member.id) for part in planned.parts]
    _end_if_nothing_was_made(world, members)
    # git takes long over worktrees as fresh as these, and they hold nothing yet.
    found = rows(world, [Known(member, planned.group) for member in members], git=False)
    waiting = tuple(row.session for row in found if _needs_person(row))
    code = 130 if interrupted else 6 if timed_out else exit_code(found, detached=detached)
    return Started(planned.group.stem, planned.group.base, found, code, waiting, _hints(planned, found, waiting))


def exit_code(found: Sequence[Row], *, detached: bool = False) -> int:
    """0 all sent (or made, when detached), 1 all failed, 3 some wait for the person, 5 some failed."""
    failed = [row for row in found if row.prompt_status == Status.NOT_SENT]
    if failed:
        return 1 if len(failed) == len(found) else 5
    if detached:
        return 0
    return 3 if any(row.prompt_status == Status.PENDING for row in found) else 0


def _hints(planned: Plan, found: Sequence[Row], waiting: Sequence[str]) -> tuple[str, ...]:
    hints = [f"fan attach {waiting[0]}"] if waiting else []
    failed = [row for row in found if row.prompt_status == Status.NOT_SENT]
    hints += [f"fan why {row.id}" for row in failed if row.pane][:1]
    if any(not row.gone and is_folder(Path(row.path)) for row in failed):
        hints.append(f"fan group rm {planned.group.stem}")
    return tuple(hints)


def _end_if_nothing_was_made(world: World, members: Sequence[Member]) -> None:
    """A group of which nothing is left gives its name back."""
    if any(member.step is not Step.FAILED or there(member.path) is not False for member in members):
        return
    now = world.clock.now()
    for member in members:
        world.store.update_member(member.id, removed_at=now)


def _dry(planned: Plan) -> Started:
    found = [planned_row(Known(part.member, planned.group)) for part in planned.parts]
    prompts = tuple(part.file or (part.delivery.text if part.delivery else "") for part in planned.parts)
    return Started(planned.group.stem, planned.group.base, found, 0, dry_run=True, prompts=prompts)
