"""The row of `fan ls`: what the record, tmux and git say of a member at this moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from fan.core.model import Delivery, Member, Row, State, Status, Step, Turn
from fan.core.naming import natural
from fan.core.ours import told_apart
from fan.core.reading import DRAFT, Reading, gone
from fan.core.standing import is_of_the_process, quotes_agent, turn
from fan.courier.seeing import Seen, see
from fan.errors import FanError
from fan.verbs.target import Known
from fan.world.files import is_folder, unseen
from fan.world.world import World

if TYPE_CHECKING:
    from fan.verbs.target import Enter
    from fan.world.git import WorktreeStatus

    Answer = Callable[[], dict[str, WorktreeStatus | None]]


def rows(world: World, members: Sequence[Known], *, git: bool = True, enter: Enter | None = None) -> list[Row]:
    """One row a member, by repository, group and number. Without `git`, `changes` and `ahead` are None."""
    members = sorted(members, key=lambda one: (str(one.group.repo), natural(one.group.stem), one.member.n))
    asked = _ask_git(enter or world.git.repository, members) if git else []
    seen = seen_now(world, [one.member for one in members])
    statuses = {member: status for answer in asked for member, status in answer().items()}
    deliveries, changes = world.store.last_deliveries(), world.store.last_changes()
    unread = world.store.unread_counts()
    found = []
    for one in members:
        last, change = deliveries.get(one.member.id), changes.get(one.member.id)
        reading = seen[one.member.id].reading
        same = change and (change.state, change.kind) == (reading.state, reading.kind)
        since = change.since if change and same else None
        row = _row(one, seen[one.member.id], last, statuses.get(one.member.id), since)
        done = _turn(world, one.member, reading, last)
        found.append(structs.replace(row, turn=done.value, unread=unread.get(one.member.address, 0)))
    return found


def planned_row(one: Known) -> Row:
    """The row of a member that `--dry-run` would make."""
    nothing = Seen(one.member, None, None, gone())
    row = _row(one, nothing, None, None, None)
    return structs.replace(row, state="", detail="planned", prompt_status="")


def seen_now(world: World, members: Sequence[Member]) -> dict[str, Seen]:
    """The members as one look finds them."""
    found = see(world.tmux, world.catalogue, members, world.store.last_reports(members), world.clock.now())
    return {member: _told_apart(world, seen) for member, seen in found.items()}


def _told_apart(world: World, seen: Seen) -> Seen:
    """A draft is looked at twice: it may be a prompt of ours."""
    if seen.recipe is None or seen.reading.obstacle != DRAFT:
        return seen
    deliveries = world.store.deliveries(seen.member.id)
    return structs.replace(seen, reading=told_apart(seen.reading, deliveries, seen.recipe.submit))


def _row(one: Known, seen: Seen, last: Delivery | None, status: WorktreeStatus | None, since: float | None) -> Row:
    member, reading = one.member, seen.reading
    made = member.step is Step.READY
    return Row(
        id=member.id,
        session=member.session if member.agent else "",
        pane=member.pane,
        repo=str(one.group.repo),
        branch=(status.branch if status and status.branch else member.branch),
        path=str(member.path),
        base=one.group.base,
        group=one.group.stem,
        agent=member.asked_for,
        state=_state(member, reading.state),
        kind=reading.kind if made else "",
        turn=Turn.NONE.value,
        since=since,
        prompt_status=last.status.value if last else "" if made else Status.NOT_SENT.value,
        prompt_note=_note(member, last),
        typed=last.typed.value if last else "no",
        prompt_at=(last.done_at or last.created_at) if last else None,
        ready_by=last.ready_by if last else "",
        changes=status.changes if status else None,
        ahead=status.ahead if status else None,
        gone=made and ((bool(member.agent) and seen.pane is None) or is_folder(member.path) is False),
        detail=_detail(member, reading),
        untrusted=made and quotes_agent(reading, last.note if last else ""),
    )


def _turn(world: World, member: Member, reading: Reading, last: Delivery | None) -> Turn:
    """Its turn; that of an agent that starts again or has exited is found on record."""
    if member.step is not Step.READY or last is None:
        return Turn.NONE
    begun = last.pressed_at or last.done_at or last.created_at
    rested = is_of_the_process(reading.state, reading.kind) and world.store.rested(member.id, begun)
    return turn(last, reading.state, reading.kind, reading.background, rested=rested)


def _detail(member: Member, reading: Reading) -> str:
    if why := unseen(member.path):
        return f"its folder cannot be looked at: {why}"
    if member.step is Step.READY:
        return reading.detail or reading.background
    return member.failure or f"making its {member.step}"


def _state(member: Member, found: State) -> str:
    """The agent's state, of which one that is not made yet has none to look at; empty without an agent."""
    if member.step is not Step.READY:
        return (State.EXITED if member.step is Step.FAILED else State.STARTING).value
    return found.value if member.agent else ""


def _note(member: Member, last: Delivery | None) -> str:
    if member.failure or not last:
        return member.failure
    return "; ".join(part for part in (last.note, last.guards) if part)


def _ask_git(enter: Enter, members: Sequence[Known]) -> list[Answer]:
    """Begin to ask for git's view, repository by repository; each answer waits for its own."""
    repos = {one.group.repo for one in members}
    return [_ask(enter, repo, [one.member for one in members if one.group.repo == repo]) for repo in repos]


def _ask(enter: Enter, repo: Path, members: Sequence[Member]) -> Answer:
    """The question to one repository; its columns stay empty where git cannot tell, which says so."""
    try:
        answers = enter(repo).begin_statuses([(member.path, member.base_oid) for member in members])
    except FanError:
        return dict

    def answer() -> dict[str, WorktreeStatus | None]:
        try:
            return {member.id: status for member, status in zip(members, answers(), strict=True)}
        except FanError:
            return {}

    return answer
