"""Groups without sessions: worktrees and records as `fan N` leaves them, for verbs that are called in-process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fan.core.caller import Caller
from fan.core.model import Delivery, Group, Member, Phase, Status, Step, Typed
from fan.world.git import Repository
from fan.world.world import World, open_world
from tests.support.repos import RepoBuilder

FILES = {".gitignore": "*.log\n", "a.txt": "a\n", "b.txt": "b\n", "src/main.py": "print(1)\n"}


class Groups:
    """One repository, and members whose agents have exited long ago."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "home").mkdir(parents=True)
        self.repos = RepoBuilder(folder / "home")
        self.top = self.repos.repo(files=FILES)
        self.environ = self.repos.environ | {
            name: str(folder / place)
            for name, place in {
                "FAN_STATE_DIR": "s",
                "FAN_WORKTREE_DIR": "w",
                "FAN_CONFIG_DIR": "c",
                "FAN_RUNTIME_DIR": "r",
            }.items()
        }
        self.world = self.at(self.top)
        self._made = 0

    def at(self, cwd: Path, acting: Caller | None = None) -> World:
        """The world of another process, standing in `cwd`, of whoever acts or has started it."""
        return open_world(self.environ, cwd, acting)

    @property
    def repo(self) -> Repository:
        """The repository, through the door."""
        return self.world.git.repository(self.top)

    def group(self, count: int = 3, stem: str = "", *, began: bool = True) -> list[Member]:
        """A group with worktrees; `began` says that its prompt was typed."""
        repo, self._made = self.repo, self._made + 1
        stem = stem or f"fan/g{self._made}"
        oid = repo.head().oid
        now = self.world.clock.now()
        group = Group(f"group{self._made:03}", stem, repo.root, "main", oid, "Do it", now, 1, 0.0)
        members = [self._member(group, n) for n in range(1, count + 1)]
        typed = Typed.YES if began else Typed.NO
        deliveries = [
            Delivery(0, one.id, "Do it", now, Status.SENT, Phase.DONE, typed, first=True, done_at=now)
            for one in members
        ]
        self.world.store.add_group(group, members, deliveries)
        for one in members:
            repo.create(one.path, one.branch, oid)
        return members

    def _member(self, group: Group, n: int) -> Member:
        branch = group.stem if n == 1 else f"{group.stem}-{n}"
        slug = branch.replace("/", "-")
        return Member(
            id=f"m{self._made:03}{n:04}",
            group=group.id,
            n=n,
            branch=branch,
            path=self.world.paths.worktrees / "api" / slug,
            session=f"api-{slug}",
            agent="demo",
            variant="",
            base_oid=group.base_oid,
            step=Step.READY,
            pane=f"%{self._made}{n}",
            launch=f"l{self._made:03}{n:04}",
        )

    def work(self, member: Member, files: dict[str, str], message: str = "Work") -> str:
        """A commit in a member's folder; its id."""
        return self.repos.commit(member.path, files, message)


@contextmanager
def open_groups(folder: Path) -> Iterator[Groups]:
    """Groups below `folder`; the store is closed in the end."""
    groups = Groups(folder)
    try:
        yield groups
    finally:
        groups.world.store.close()
