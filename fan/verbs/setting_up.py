"""Setting a member's worktree up before its agent starts, and taking that down before it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fan.core.model import Group, Member
from fan.core.patterns import covers, parse
from fan.core.plain import one_line
from fan.core.setup import Setup
from fan.errors import FanError, SetupFailed, TimedOut
from fan.verbs import approval
from fan.verbs.launch import Launch, environment
from fan.world import carrying, commands, ports
from fan.world import setup as files
from fan.world.files import append_private
from fan.world.git import Repository
from fan.world.world import World

LOG, SAVED = "setup.log", "setup.json"
TEARDOWN_LIMIT = 60.0
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ready:
    """An approved setup, with the paths that its patterns mean here."""

    setup: Setup
    copies: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told the phase, such as `setup: npm ci`, and who says that it is enough."""

    phase: Callable[[str], None]
    stopped: Callable[[], bool]


def find(world: World, repo: Repository, base_oid: str, *, approved: bool = True) -> Ready | None:
    """What the place we stand in asks for in each worktree; None where that is nothing.

    Raises NeedsApproval, unless `approved` does not matter, and BadSetting, DiskFailed, GitFailed.
    """
    setup = files.of_repository(repo, base_oid)
    if setup is None:
        return None
    if approved:
        approval.require(world, repo, setup)
    return Ready(setup, tuple(carrying.to_copy(repo, setup)), tuple(carrying.to_link(repo, setup)))


def notes(world: World, repo: Repository, ready: Ready) -> Iterator[str]:
    """Lines for the person, before anything is made."""
    shown = approval.approval(world, repo, ready.setup)
    yield f"setup from {ready.setup.source}: {'; '.join(shown.does)}"
    if not shown.approved:
        yield "this setup has not been approved; next: fan config approve"
    for word, texts, found in (
        ("copy", (*ready.setup.keys.copy, *ready.setup.include), ready.copies),
        ("link", ready.setup.keys.link, ready.links),
    ):
        for text in texts:
            if not text.startswith("!") and not any(covers(parse([text]), name) for name in found):
                yield f"setup: nothing here to {word} for {one_line(text)}"


def set_up(world: World, repo: Repository, launch: Launch, ready: Ready, watch: Watch) -> list[str]:
    """Copy, link, lease ports and run the commands, in this order; what the person should know of it.

    Raises SetupFailed, naming command, exit code, last lines and log; Interrupted once `watch` says so.
    """
    member, keys = launch.member, ready.setup.keys
    files.save(world.paths.member(member.id) / SAVED, ready.setup)
    _lease(world, member, keys.ports)
    if ready.copies or ready.links:
        watch.phase("setup: files")
    told = _carry(repo, member.path, ready)
    env = environment(world, launch)
    for command in keys.setup:
        watch.phase(f"setup: {one_line(command)}")
        _run(world, member, command, env, keys.timeout, watch)
    return told


def take_down(world: World, group: Group, member: Member) -> list[str]:
    """Run the teardown commands of a member that was set up, within a minute in all; what went wrong.

    Only what a person has approved is run: the saved copy lies where agents may write.
    """
    try:
        setup = files.load(world.paths.member(member.id) / SAVED)
        if setup is None or not setup.keys.teardown:
            return []
        if not world.store.approved(group.repo, setup.fingerprint):
            return ["its teardown was not run: it is not the one that was approved"]
        env = environment(world, Launch(member, group, None))
        until = world.clock.now() + TEARDOWN_LIMIT
        for command in setup.keys.teardown:
            left = max(0.1, until - world.clock.now())
            _run(world, member, command, env, left, Watch(lambda _phase: None, lambda: False))
    except FanError as error:
        return [f"its teardown failed: {error.message}"]
    return []


def _lease(world: World, member: Member, count: int) -> None:
    if count and world.store.lease(member.id, count, world.settings.values.port_base, ports.is_free) is None:
        raise SetupFailed(f"there are no {count} free ports in a row from {world.settings.values.port_base} on")


def _carry(repo: Repository, path: Path, ready: Ready) -> list[str]:
    """Copies and links; what stands in their way there stays, and is told."""
    told = []
    if repo.top is not None:
        passed = carrying.copy(repo.top, path, ready.copies)
        told += [f"setup: not copied, the worktree has its own: {', '.join(passed[:_SHOWN])}"] if passed else []
    passed = carrying.link(repo.root, path, ready.links)
    told += [f"setup: not linked, the worktree has its own: {', '.join(passed[:_SHOWN])}"] if passed else []
    loose = repo.unignored(path, set(ready.links) - set(passed))
    if loose:
        told.append(
            f"setup: git does not ignore the link {', '.join(loose[:_SHOWN])};"
            " a line `name/` in .gitignore means folders alone, `name` links too"
        )
    return told


def _run(world: World, member: Member, command: str, env: dict[str, str], limit: float, watch: Watch) -> None:
    log = world.paths.member(member.id) / LOG
    append_private(log, f"$ {command}\n")

    def on_line(line: str) -> None:
        watch.phase(f"setup: {one_line(command)}: {one_line(line)[-60:]}")

    try:
        code = commands.run(command, member.path, env, log, limit, on_line, stopped=watch.stopped)
        why = f"ended with exit code {code}" if code else ""
    except TimedOut as error:
        why = error.message.removeprefix("it ")
    if why:
        lines = " | ".join(one_line(line) for line in commands.last_lines(log, _SHOWN))
        raise SetupFailed(f"setup: `{one_line(command)}` {why}: {lines}; its output is in {log}")
