"""`fan resume`: sessions again for members whose session is gone, each agent with its own resume command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from fan.core.model import Delivery, Member, Pane, Row, Status, Step
from fan.core.resuming import Talk, carried, conversation, told
from fan.core.standing import no_session
from fan.courier import answering
from fan.courier import start as courier
from fan.errors import FanError, TargetGone, UsageError
from fan.verbs import launch
from fan.verbs.launch import Launch
from fan.verbs.left import Left, exit_code
from fan.verbs.progress import Listener
from fan.verbs.removing import alone
from fan.verbs.rows import rows
from fan.verbs.target import Known, here, known, members_meant
from fan.world import processes
from fan.world.catalogue import Choice
from fan.world.files import delete, is_folder, there, unseen
from fan.world.ids import new_launch
from fan.world.world import World

ENVIRONMENT = "the agents get this shell's environment; what --env gave them before is not kept: give it again"


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """Groups and members by name; without any, all of this repository, or of all with `everywhere`.

    With `fresh` the agents begin a new conversation.
    """

    targets: tuple[str, ...] = ()
    everywhere: bool = False
    fresh: bool = False
    env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resumed:
    """Members whose agents were started again, those that could not be and why, and lines for the person."""

    members: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all came back, or there was nothing to do; 1 none did, 5 some."""
        return exit_code(self.members, self.left)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A member to be started again; `pane` holds its agent that has exited, None: its session is gone."""

    one: Known
    choice: Choice
    pane: Pane | None


def resume(world: World, request: ResumeRequest, listener: Listener) -> Resumed:
    """Open the sessions that are gone; of those that are there, only an exited agent's that is named itself.

    What was not submitted stays pending, and the courier sends it once the agent rests. Raises Busy.
    """
    env = launch.asked_environment(request.env, world.environ)
    with alone(world):
        result = Resumed()
        wanted = list(_wanted(world, request, result))
        if not wanted:
            if not (result.left or result.notes):
                result.notes.append("nothing to resume: every agent has its session")
            return result
        listener.say(ENVIRONMENT)
        courier.ensure(world)
        started = [
            done for one in _held(world, wanted, listener) if (done := _again(world, request, one, env, result))
        ]
    courier.wake(world)
    result.members.extend(rows(world, started, git=False))
    count = sum(row.prompt_status == Status.PENDING for row in result.members)
    if count:
        result.notes.append(
            f"{count} prompt{'s are' if count > 1 else ' is'} still pending, and sent when its agent rests"
        )
    return result


def _wanted(world: World, request: ResumeRequest, result: Resumed) -> Iterator[Wanted]:
    """Those to be started again, by group and number; on the result why others that are named cannot be."""
    members, named = _chosen(world, request)
    panes = {pane.launch: pane for pane in world.tmux.panes()}
    for one in members:
        pane = panes.get(one.member.launch)
        if pane and not (pane.dead and one in named):
            if pane.dead:
                result.notes.append(f"{one.name}: its agent has exited; fan resume {one.member.id} starts it again")
            continue
        try:
            yield Wanted(one, _choice(world, one), pane)
        except FanError as error:
            if one in named or (one.member.step is Step.READY and one.member.agent):
                result.left.append(Left.because(one.member.session or one.name, error))
            elif one.member.agent:
                result.notes.append(error.message)


def _chosen(world: World, request: ResumeRequest) -> tuple[list[Known], list[Known]]:
    """All that the request means, and of these the ones that it names themselves."""
    everybody, repo = known(world), here(world)
    if request.targets and request.everywhere:
        raise UsageError("--all goes without names", not_done="nothing was resumed", hint="fan resume --all")
    if not request.targets:
        everywhere = request.everywhere or repo is None
        return [one for one in everybody if everywhere or one.group.repo == repo], []
    meant, named = members_meant(world, request.targets)
    return [one for one in everybody if one in meant], named


def _choice(world: World, one: Known) -> Choice:
    """How it was started; what it needs must be there. Raises TargetGone, NotFound, ToolMissing."""
    member = one.member
    why = ""
    if not member.agent or member.step is not Step.READY:
        why = no_session(member)
    elif not is_folder(member.path):
        unseen_because = unseen(member.path)
        lost = f"cannot be looked at: {unseen_because}" if unseen_because else "is gone"
        why = f"its folder {member.path} {lost}"
    if why:
        raise TargetGone(f"{one.name} cannot be resumed: {why}", hint="fan ls")
    choice = world.catalogue.choose(member.asked_for)
    launch.command(world, choice)
    return choice


def _held(world: World, wanted: Sequence[Wanted], listener: Listener) -> Iterator[tuple[Wanted, bool]]:
    """Each with whether it is held, as at a start: of a group's agents that ask for trust, one asks."""
    living = {pane.launch for pane in world.tmux.panes() if not pane.dead}
    everybody = known(world)
    told_already: set[str] = set()
    for group in dict.fromkeys(each.one.group.id for each in wanted):
        own = [each for each in wanted if each.one.group.id == group]
        others = [one.member for one in everybody if one.group.id == group and one.member.launch in living]
        started = [member for member in others if not member.hold]
        holds, notes = launch.held(world, own[0].one.group.repo, [each.choice for each in own], started)
        for note in notes:
            if note not in told_already:
                listener.say(note)
            told_already.add(note)
        yield from zip(own, holds, strict=True)


def _again(
    world: World, request: ResumeRequest, which: tuple[Wanted, bool], env: dict[str, str], result: Resumed
) -> Known | None:
    """Start one again; None, with the reason on the result, when it cannot be."""
    wanted, hold = which
    one, member = wanted.one, wanted.one.member
    try:
        result.notes.extend(f"{one.name}: {note}" for note in _end_before(world, wanted))
        talk = "" if request.fresh else _conversation(world, member, wanted.choice)
        _carry(world, member, wanted.choice)
        now = structs.replace(
            member,
            launch=new_launch(),
            conversation=talk,
            inbox=member.address if talk else "",
            hold=hold,
            pane="",
            pid=0,
            pid_started=0.0,
            launched_at=None,
        )
        world.store.relaunch(member, now)
        argv = launch.command(world, wanted.choice, talk, briefed=member.briefed)
        return Known(launch.opened(world, Launch(now, one.group, wanted.choice, argv, env)), one.group)
    except FanError as error:
        result.left.append(Left.because(one.member.session or one.name, error))
        return None


def _end_before(world: World, wanted: Wanted) -> list[str]:
    """What is left of its last launch goes: an exited agent's session, and an agent that has outlived its own."""
    member = wanted.one.member
    if wanted.pane:
        world.tmux.end_session(wanted.pane.session_id)
    delete(world.paths.hold(member.id))
    if not (member.pid and processes.alive(member.pid, member.pid_started)):
        return []
    if left := processes.unended(processes.end(processes.descendants(member.pid))):
        return left
    return [f"its agent was still running without a session (process {member.pid}) and was ended"]


def _conversation(world: World, member: Member, choice: Choice) -> str:
    """What its last launch talked in, else what that one had gone on with, where the agent can still have it."""
    told_by_hooks = conversation(world.store.reports_since(member, 0), choice.recipe.hooks)
    talk = told_by_hooks or answering.conversation(world, member, choice.recipe) or Talk(member.conversation)
    lost = talk.transcript and there(Path(talk.transcript)) is False
    return talk.id if choice.recipe.launch.resume and not lost else ""


def _carry(world: World, member: Member, choice: Choice) -> None:
    """Its prompts, from its last launch into the next; again where the courier changes one meanwhile."""
    while not all(_carried(world, member, one, choice) for one in world.store.deliveries(member.id)):
        pass


def _carried(world: World, member: Member, delivery: Delivery, choice: Choice) -> bool:
    """False when the courier has changed it meanwhile."""
    key = choice.recipe.hooks.prompt if choice.recipe.hooks else ""
    took = [told(report, key) for report in world.store.reports_since(member, delivery.report_seq)]
    after = carried(delivery, took, world.clock.now())
    return after == delivery or world.store.save_delivery(after, was=delivery)
