"""Whether a person has agreed to what a repository's setup would do, and their agreeing."""

from __future__ import annotations

from dataclasses import dataclass

from fan.core.caller import Act
from fan.core.plain import visible
from fan.core.setup import Setup, written
from fan.errors import Conflict, NeedsApproval, NotFound
from fan.world import setup as files
from fan.world.git import Repository
from fan.world.world import World


@dataclass(frozen=True, slots=True)
class Approval:
    """The setup of the repository we stand in: what it does, a line a thing, and whether it was approved."""

    repo: str
    source: str
    fingerprint: str
    does: tuple[str, ...]
    approved: bool


def approval(world: World, repo: Repository, setup: Setup) -> Approval:
    """How it stands with `setup`."""
    agreed = world.store.approved(repo.root, setup.fingerprint)
    return Approval(str(repo.root), setup.source, setup.fingerprint, shown(setup), agreed)


def shown(setup: Setup) -> tuple[str, ...]:
    """What it would do, a line a thing, with nothing in it that a terminal would obey."""
    return tuple(visible(line, keep="") for line in written(setup))


def require(world: World, repo: Repository, setup: Setup) -> None:
    """Raises NeedsApproval unless a person has agreed to exactly this."""
    found = approval(world, repo, setup)
    if not found.approved:
        raise NeedsApproval(
            f"the setup in {setup.source} has not been approved, or has changed since: {'; '.join(found.does)}",
            setup.fingerprint,
            found.does,
            not_done="nothing was made; --no-setup goes without it",
            hint="fan config approve",
        )


def approve(world: World, fingerprint: str | None = None) -> Approval:
    """Agree to the setup of the repository we stand in; with `fingerprint`, only if it is still that one.

    Raises NotFound where there is none, Conflict where it has changed, NotAllowed for an agent.
    """
    world.allow(Act.APPROVE)
    repo = world.git.repository(world.cwd)
    setup = files.of_repository(repo)
    if setup is None:
        raise NotFound(
            "this repository asks for no setup: it has no fan.toml",
            not_done="nothing was approved",
            hint="fan config",
        )
    if fingerprint not in (None, setup.fingerprint):
        raise Conflict(
            f"{setup.source} has changed since it was shown", not_done="nothing was approved", hint="fan config"
        )
    world.store.approve(repo.root, setup.fingerprint, world.clock.now())
    return approval(world, repo, setup)
