"""Making the members of a plan: worktree, then session, each as soon as it can be.

Every step is on record before it is taken. What is half-made when a step fails is undone with its branch.
"""

from __future__ import annotations

import os
import threading

from fan.core.model import Member, Step
from fan.courier import start as courier
from fan.courier.housekeeping import close_deliveries
from fan.errors import FanError, Interrupted
from fan.verbs import launch
from fan.verbs.plan import Part, Plan, prompt_file
from fan.verbs.progress import Listener
from fan.verbs.setting_up import Watch, set_up, take_down
from fan.verbs.side_by_side import side_by_side
from fan.world import files
from fan.world.world import World

AT_REST_AT_SOONEST = 0.5
"""Seconds from an agent's start. Nothing can be typed before, and until then the cores belong to the making."""


class Making:
    """One run over a plan. After a Ctrl-C no further step begins; the one that is on its way is finished."""

    def __init__(self, world: World, plan: Plan, listener: Listener) -> None:
        self._world = world
        self._plan = plan
        self._listener = listener
        self._stopped = threading.Event()
        self._first_start: float | None = None
        self._has_courier = False

    def run(self) -> None:
        """Make all members, some at a time, and have a courier for those that have a session.

        On Ctrl-C the rest is marked as interrupted, and it is raised again.
        """
        width = 2 * (os.cpu_count() or 1)
        try:
            side_by_side(self._make, self._plan.parts, width, self._stopped, self._early_courier)
        finally:
            self._have_courier()

    def _early_courier(self) -> None:
        """The first agent does not wait for the last worktree."""
        if self._first_start is not None and self._world.clock.now() - self._first_start >= AT_REST_AT_SOONEST:
            self._have_courier()

    def _have_courier(self) -> None:
        if self._first_start is None or self._has_courier:
            return
        try:
            courier.ensure(self._world)
            self._has_courier = True
        except FanError as error:
            # The sessions stand and the prompts are on record: whatever looks at them next tries again.
            self._listener.warn(f"no courier could be started yet, so the prompts wait: {error.message}")

    def _make(self, part: Part) -> None:
        if self._stopped.is_set():
            self._fail(part, "interrupted")
            return
        try:
            self._worktree(part)
            self._setup(part)
            if self._stopped.is_set():
                self._undo(part, "interrupted")
                return
            self._session(part)
        except Interrupted as error:
            self._undo(part, error.message)
        except FanError as error:
            self._fail(part, error.message)
        except Exception as bug:
            self._fail(part, f"a bug of ours: {bug!r}; fan rm {part.member.id} takes it away")
            raise

    def _worktree(self, part: Part) -> None:
        member = part.member
        self._step(part, Step.WORKTREE)
        created = self._plan.repo.create(
            member.path,
            member.branch,
            _begin(member),
            many=len(self._plan.parts) > 1,
            on_phase=lambda phase: self._listener.phase(member.branch, phase),
        )
        for warning in created.warnings:
            self._listener.warn(f"{member.branch}: {warning}")
        self._world.store.update_member(member.id, warning=" ".join(created.warnings))

    def _setup(self, part: Part) -> None:
        """A setup that fails leaves the worktree to be looked at, and its agent is not started."""
        setup, member = self._plan.setup, part.member
        if setup is None:
            return
        self._step(part, Step.SETUP)
        watch = Watch(lambda phase: self._listener.phase(member.branch, phase), self._stopped.is_set)
        for note in set_up(self._world, self._plan.repo, self._plan.launch(part), setup, watch):
            self._listener.warn(f"{member.branch}: {note}")

    def _session(self, part: Part) -> None:
        member = part.member
        if part.choice is None:
            self._world.store.update_member(member.id, step=Step.READY, pid=0, pid_started=0.0)
            return
        self._step(part, Step.SESSION)
        try:
            if part.file:
                files.write_prompt(member.path, prompt_file(member), part.file)
            launch.opened(self._world, self._plan.launch(part))
        except FanError as error:
            self._undo(part, error.message)
            return
        self._first_start = self._first_start or self._world.clock.now()
        self._listener.phase(member.branch, "held" if member.hold else "starting")

    def _step(self, part: Part, step: Step) -> None:
        self._world.store.update_member(part.member.id, step=step)
        self._listener.phase(part.member.branch, step.value)

    def _undo(self, part: Part, why: str) -> None:
        """Take a complete worktree without a session away again."""
        member = part.member
        for note in take_down(self._world, self._plan.group, member):
            self._listener.warn(f"{member.branch}: {note}")
        self._world.store.release(member.id)
        try:
            self._plan.repo.undo_create(member.path, member.branch, _begin(member))
        except FanError as error:
            why = f"{why}; what was made stays: {error.message}"
        self._fail(part, why)

    def _fail(self, part: Part, why: str) -> None:
        self._world.store.update_member(part.member.id, step=Step.FAILED, failure=why)
        close_deliveries(self._world, part.member, why)
        self._listener.phase(part.member.branch, "failed")
        self._listener.warn(f"{part.member.branch}: {why}")


def _begin(member: Member) -> str | None:
    """Where its new branch begins; None for a branch that was there before."""
    return None if member.adopted else member.base_oid
