"""The whole story on a real repository: four agents, the checks, one kept, taken back, another kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fan.world.world import World, open_world
from tests.support.cli import Fan
from tests.support.ledger import Contents, Ledger
from tests.support.members import becomes, start
from tests.support.repos import snapshot

PROMPT = "Add a retry with backoff to the HTTP client."
MINE = ("mine.txt", "mine.log")


@dataclass
class Story:
    """One repository with a person's own things in it, and all that its members ever had."""

    fan: Fan
    top: Path
    world: World
    had: dict[str, Contents] = field(default_factory=dict)

    def tell(self, *words: str) -> Any:
        """One line that must do all of its work; afterwards nothing is lost, broken or changed beside it."""
        before, ledger = self.persons(), Ledger(self)
        self.had |= {one.id: ledger.contents(one) for one in self.world.store.members()}
        done = self.fan.run(*words, cwd=self.top)
        assert done.code == 0, f"{words}\n{done.out}\n{done.err}"
        assert self.persons() == before, words
        assert "error" not in self.fan.repos.git(self.top, "fsck", "--full", "--strict"), words
        assert self.fan.repos.git(self.top, "status", "--porcelain") == "?? mine.txt"
        assert ledger.lost(self.had) == set(), words
        return done.json if "--json" in words else done.out

    def persons(self) -> tuple[object, ...]:
        """What nobody but the person changes: their files, branch, git's stash and the shared configuration."""
        files = {name: seen for name, seen in snapshot(self.top).items() if name in MINE}
        lines = ("stash list --format=%H", "symbolic-ref HEAD")
        told = [self.fan.repos.git(self.top, *line.split()) for line in lines]
        return files, told, (self.top / ".git/config").read_bytes()

    def seen(self, rows: list[dict[str, Any]]) -> list[object]:
        """Members' files, and what git says of them."""
        places = [Path(row["path"]) for row in rows]
        return [(snapshot(one), self.fan.repos.git(one, "status", "--porcelain=v2", "--branch")) for one in places]


@pytest.fixture
def story(fan: Fan) -> Iterator[Story]:
    """A person's checkout with a stash entry, an untracked and an ignored file."""
    fan.env |= {"FAN_DEMO_SPEED": "20", "FAN_DEMO_HOME": str(fan.folder / "d")}
    top = fan.repos.repo()
    fan.repos.commit(top, {".gitignore": "*.log\n"})
    fan.repos.write(top, {"README.md": "for later\n"})
    fan.repos.git(top, "stash", "push", "--quiet", "-m", "mine")
    fan.repos.write(top, dict.fromkeys(MINE, "mine\n"))
    world = open_world(fan.env, top)
    yield Story(fan, top, world)
    world.store.close()


@pytest.mark.timeout(240)
def test_from_four_agents_to_the_winner_and_back(story: Story) -> None:
    """Four take the prompt; they are checked and compared; one is kept with a merge, which undo leaves in place while
    the others come back byte for byte; another is kept as one squashed commit. After every line `git fsck` is clean,
    the person's own things are as they were, and every byte that the agents wrote can be reached.

    Red when keep removes before it merges, when undo moves the branch, or when an archive leaves out untracked files.
    """
    fan, top = story.fan, story.top
    rows = start(fan, top, 4, "demo", PROMPT)
    for row in rows:
        becomes(fan, row, turn="done")
    for row in rows[:3]:
        files = {"README.md": f"{row['id']}\n", "new/untracked.txt": f"{row['id']}\n", "run.log": row["id"]}
        fan.repos.write(Path(row["path"]), files)
    fan.repos.git(Path(rows[1]["path"]), "add", "README.md")
    fan.repos.git(Path(rows[2]["path"]), "switch", "--quiet", "--detach")
    fan.repos.git(Path(rows[0]["path"]), "add", "--all")
    fan.repos.git(Path(rows[0]["path"]), "commit", "--quiet", "-m", "Everything")

    group = rows[0]["group"]
    verified = story.tell("verify", group, "--json", "--", "test -e README.md")
    assert [one["status"] for one in verified["members"]] == ["passed"] * 4
    compared = story.tell("compare", group, "--json")
    assert [one["id"] for one in compared["members"]] == [row["id"] for row in rows]

    before, was = story.seen(rows[1:]), fan.repos.git(top, "rev-parse", "HEAD")
    kept = story.tell("keep", rows[0]["branch"], "--merge", "--json")
    assert (kept["merged"]["into"], kept["merged"]["how"]) == ("main", "fast-forward")
    assert [row["id"] for row in kept["removed"]] == [row["id"] for row in rows[1:]]
    assert (top / "README.md").read_text() == f"{rows[0]['id']}\n"

    undone = story.tell("undo", "--json")
    assert [row["id"] for row in undone["restored"]] == [row["id"] for row in rows[1:]]
    assert story.seen(rows[1:]) == before
    assert fan.repos.git(top, "rev-parse", "HEAD") == kept["merged"]["commit"]
    assert any(f"git -C {top} reset --keep {was}" in note for note in undone["notes"])

    kept = story.tell("keep", rows[3]["id"], "--merge", "--squash", "--json")
    assert kept["merged"]["how"] == "squash"
    assert [row["id"] for row in kept["removed"]] == [row["id"] for row in rows[:3]]
    said = fan.repos.git(top, "log", "-1", "--format=%s|%b|%an")
    assert said.startswith(f"Squash {rows[3]['branch']}|From the group {group}.")
    assert said.endswith("|Person")

    story.tell("group", "rm", group, "--json")
    assert len(story.tell("archive", "ls", "--json")) == 7
    assert len(story.tell("undo", "--json")["restored"]) == 1
    assert len(story.tell("undo", "--json")["restored"]) == 3
