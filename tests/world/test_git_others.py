"""The worktrees that are not known yet: the quick answer is git's own."""

from __future__ import annotations

from pathlib import Path

from fan.world.git import Repository
from tests.support.repos import RepoBuilder


def _agrees(repo: Repository, known: set[str]) -> list[tuple[Path, str | None]]:
    """The quick answer's paths and branches, which must be those of git's list."""
    quick = [(tree.path, tree.branch) for tree in repo.others(known)]
    listed = [tree for tree in repo.worktrees() if not tree.bare and (tree.main or str(tree.path) not in known)]
    assert quick == [(tree.path, tree.branch) for tree in listed]
    return quick


def test_the_quick_answer_is_gits(tmp_path: Path) -> None:
    """With all, some or none of the linked worktrees known, on a branch, detached, and from a bare hub.

    Red when a worktree that nobody knows is left out, or when the main one is.
    """
    lab = RepoBuilder(tmp_path.resolve())
    top = lab.repo()
    repo = lab.open(top)
    assert _agrees(repo, set()) == [(top, "main")]
    places = [lab.place(name) for name in ("a", "b")]
    for place in places:
        lab.git(top, "worktree", "add", "--quiet", "-b", f"topic/{place.name}", str(place))
    assert _agrees(repo, {str(place) for place in places}) == [(top, "main")]
    assert _agrees(repo, {str(places[0])}) == [(top, "main"), (places[1], "topic/b")]
    assert len(_agrees(repo, set())) == 3
    lab.git(top, "checkout", "--quiet", "--detach")
    assert _agrees(repo, {str(place) for place in places}) == [(top, None)]
    hub = lab.hub(source=top)
    assert _agrees(lab.open(hub), set()) == []
    beside = lab.place("of-hub")
    lab.git(hub, "worktree", "add", "--quiet", "-b", "x", str(beside), "topic/a")
    assert _agrees(lab.open(hub), set()) == [(beside, "x")]
