"""`fan verify`: one command in every member's worktree, its result bound to what it ran on."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from fan.core.compare import Verification
from fan.core.plain import one_line
from fan.errors import Busy, FanError, Interrupted, NeedsApproval, TimedOut, TooLarge, UsageError
from fan.verbs import approval
from fan.verbs.launch import Launch, environment
from fan.verbs.progress import Listener
from fan.verbs.side_by_side import side_by_side
from fan.verbs.target import Known, group_members, members_meant
from fan.world import commands, locks
from fan.world import setup as files
from fan.world.catalogue import Choice
from fan.world.files import delete, private_folder
from fan.world.git.compare import Snapshot, Trees, open_trees
from fan.world.world import World

KEPT = 10
SHOWN = 12


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Groups and members to check (none: the group we stand in). `command` is a line for the shell; None: the
    repository's own check. `timeout` is in seconds for each."""

    targets: tuple[str, ...] = ()
    command: str | None = None
    jobs: int | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """How the command ended for one member: `passed`, `failed`, `broken_off` (at a limit) or `not_run`.

    `commit` and `tree` are what it began on; `changed` names files that became others while it ran, in which case
    the result is stale already. `output` is the file with all it printed, `lines` are the last of them.
    """

    id: str
    branch: str
    group: str
    status: str
    exit_code: int | None = None
    seconds: float | None = None
    commit: str = ""
    tree: str = ""
    changed: list[str] = field(default_factory=list)
    output: str = ""
    lines: list[str] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """One command, and how it ended for each member, in order. What it printed may be the agents' words."""

    command: str
    members: list[Checked]
    untrusted: bool = True

    @property
    def exit_code(self) -> int:
        """0 all passed, 1 none, 5 some."""
        passed = sum(one.status == "passed" for one in self.members)
        return 0 if passed == len(self.members) else 5 if passed else 1


def verify(world: World, request: VerifyRequest, listener: Listener) -> Verified:
    """Run one command in the worktrees of several members, some at a time.

    Raises a refusal before anything is run; on Ctrl-C all commands are ended and it is raised again.
    """
    if request.jobs is not None and request.jobs < 1:
        raise UsageError("--jobs must be 1 or more", not_done="nothing was run")
    if request.timeout is not None and not request.timeout > 0:
        raise UsageError("--timeout must be above 0", not_done="nothing was run")
    members = members_meant(world, request.targets)[0] if request.targets else group_members(world, None)
    command = request.command if request.command is not None else _own_check(world, members)
    if not command.strip():
        raise UsageError("the command is empty", not_done="nothing was run", hint="fan verify -- CMD")
    check = _Check(world, command, request.timeout, listener)
    return Verified(command, side_by_side(check.of, members, request.jobs or os.cpu_count() or 1, check.stopped))


def _own_check(world: World, members: Sequence[Known]) -> str:
    """The check that the members' repository names, if the person has approved it."""
    roots = {one.group.repo for one in members}
    setups = [(repo, files.of_repository(repo)) for repo in map(world.git.repository, roots)]
    found = {setup.keys.check for _, setup in setups if setup}
    if len(roots) != 1 or found in (set(), {""}):
        raise UsageError(
            "there is no check command: fan.toml names none", not_done="nothing was run", hint="fan verify -- CMD"
        )
    for repo, setup in setups:
        try:
            if setup:
                approval.require(world, repo, setup)
        except NeedsApproval as error:
            error.not_done = "nothing was run"
            raise
    return found.pop()


class _Check:
    """One command for several members, each in a thread. After `stopped` is set no other begins."""

    def __init__(self, world: World, command: str, timeout: float | None, listener: Listener) -> None:
        self._world = world
        self._command = command
        self._timeout = timeout
        self._listener = listener
        self.stopped = threading.Event()

    def of(self, one: Known) -> Checked:
        """How it ends for this member; what keeps it from being run is told, not raised."""
        try:
            if self.stopped.is_set():
                raise Interrupted("interrupted")
            with self._alone(one):
                checked = self._checked(one)
        except FanError as error:
            checked = Checked(one.member.id, one.member.branch, one.group.stem, "not_run", note=error.message)
        self._listener.phase(one.member.branch, _phase(checked))
        return checked

    def _alone(self, one: Known) -> AbstractContextManager[None]:
        """Raises Busy at once where another check of this member runs."""
        lock = private_folder(self._world.paths.member(one.member.id)) / "verify.lock"
        taken = Busy(f"another check of {one.name} is running", not_done="nothing was run", hint="fan compare")
        return locks.held(lock, 0, taken)

    def _checked(self, one: Known) -> Checked:
        with open_trees(self._world.git.repository(one.group.repo)) as trees:
            before = trees.take(one.member.path)
            begun = self._begun(one, before)
            code, note = self._run(one, begun.output)
            ended = self._world.clock.now()
            self._world.store.end_verification(begun, exit_code=code, ended_at=ended)
            self._sweep(one.member.id)
            changed, unseen = _changed(trees, one, before)
            return Checked(
                one.member.id,
                before.branch or one.member.branch,
                one.group.stem,
                "broken_off" if code is None else "failed" if code else "passed",
                exit_code=code,
                seconds=ended - begun.started_at,
                commit=before.commit,
                tree=before.tree,
                changed=changed,
                output=str(begun.output),
                lines=commands.last_lines(begun.output, SHOWN) if code != 0 else [],
                note=note or unseen,
            )

    def _begun(self, one: Known, before: Snapshot) -> Verification:
        """The run on record, before it begins."""
        now = self._world.clock.now()
        output = self._world.paths.member(one.member.id) / f"verify-{int(now * 1000)}.log"
        begun = Verification(0, one.member.id, self._command, before.commit, before.tree, None, now, None, output)
        return self._world.store.add_verification(begun)

    def _run(self, one: Known, output: Path) -> tuple[int | None, str]:
        """Exit code, or None and why it was broken off."""
        branch = one.member.branch
        self._listener.phase(branch, f"running {one_line(self._command)}")
        env = environment(self._world, Launch(one.member, one.group, self._choice(one)))
        # A report from a check is none from the agent: without the launch's mark it is dropped.
        env.pop("FAN_LAUNCH", None)
        try:
            return commands.run(
                self._command,
                one.member.path,
                env,
                output,
                self._timeout,
                lambda line: self._listener.output(branch, line),
                stopped=self.stopped.is_set,
            ), ""
        except (TimedOut, TooLarge) as error:
            return None, error.message

    def _choice(self, one: Known) -> Choice | None:
        try:
            return self._world.catalogue.choose(one.member.asked_for)
        except FanError:
            return None  # a recipe that is gone takes its variables with it; the check can run without them

    def _sweep(self, member_id: str) -> None:
        for file in self._world.store.outputs(member_id)[:-KEPT]:
            delete(file)


def _changed(trees: Trees, one: Known, before: Snapshot) -> tuple[list[str], str]:
    """What became another while the command ran, by it or by the agent; why that cannot be told, if it cannot."""
    try:
        after = trees.take(one.member.path)
        moved = [] if after.commit == before.commit else ["HEAD"]
        return moved + [file.path for file in trees.touched(before.tree, after.tree)], ""
    except FanError as error:
        return [], f"the worktree cannot be read any more: {error.message}"


def _phase(checked: Checked) -> str:
    about = checked.note or (f"exit code {checked.exit_code}" if checked.exit_code else "")
    return f"{checked.status.replace('_', ' ')}{f': {about}' if about else ''}"
