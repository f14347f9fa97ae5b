"""What is left lying about after something was broken off."""

from __future__ import annotations

from pathlib import Path

from fan.core.model import Member
from fan.world.world import World, open_world
from tests.support.cli import Fan
from tests.support.members import sessions, tmux


class Remains:
    """One `fan` and one repository, looked at from outside; `world` reads the record."""

    def __init__(self, fan: Fan, repo: Path) -> None:
        self.fan, self.repo = fan, repo
        self.world: World = open_world(fan.env, repo)

    def living(self) -> list[Member]:
        """The members on record."""
        return self.world.store.members()

    def strays(self, *kept: str) -> list[str]:
        """Everything that belongs to no living member; `kept` are branches that may stay."""
        living = self.living()
        ids, paths = {one.id for one in living}, {str(one.path) for one in living}
        branches = {"main", *kept, *(one.branch for one in living)}
        found = [f"branch {name}" for name in self.branches() if name not in branches]
        found += [f"worktree {path}" for path in self._worktrees() if path not in (*paths, str(self.repo))]
        found += [f"folder {path}" for path in self._folders() if path not in paths]
        found += [f"session {name}" for name in sessions(self.fan) if name not in {one.session for one in living}]
        found += [f"{one}" for one in self._of_members() if one.name.rpartition("-")[2] not in ids]
        found += [str(file) for file in (self.repo / ".git").rglob("*.lock") if file.name != "fan.lock"]
        found += map(str, (self.repo / ".git").glob("fan.restore-*"))
        return [*found, *map(str, self.fan.runtime.glob("paste-*"))]

    def stray_buffers(self) -> list[str]:
        """Paste buffers of ours whose prompt is not being delivered; the courier drops them every few seconds."""
        open_ones = {f"fan-delivery-{one.id}" for one in self.world.store.open_deliveries()}
        names = tmux(self.fan, "list-buffers", "-F", "#{buffer_name}").split()
        return [name for name in names if name not in open_ones]

    def missing(self) -> list[str]:
        """Living members without their folder, git's entry or their branch."""
        there = (set(self._worktrees()), set(self.branches()))
        return [
            one.branch
            for one in self.living()
            if not one.path.is_dir() or str(one.path) not in there[0] or one.branch not in there[1]
        ]

    def branches(self) -> list[str]:
        """All local branches."""
        return self.fan.repos.git(self.repo, "branch", "--format=%(refname:short)").split()

    def _worktrees(self) -> list[str]:
        listed = self.fan.repos.git(self.repo, "worktree", "list", "--porcelain").splitlines()
        return [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")]

    def _folders(self) -> list[str]:
        return [str(path) for path in self.fan.worktrees.glob("*/*") if ".trash" not in path.parts]

    def _of_members(self) -> list[Path]:
        runtime, state = self.fan.runtime, self.fan.state / "members"
        return [*runtime.glob("hold-*"), *runtime.glob("tmux-*"), *state.glob("*")]
