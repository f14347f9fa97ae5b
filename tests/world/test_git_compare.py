"""Worktrees as they stand, compared without a trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.compare import Touched
from fan.errors import GitFailed, NotFound
from fan.world.git import Repository
from fan.world.git.compare import Measured, Snapshot, Trees, open_trees
from tests.support.repos import RepoBuilder, snapshot

FILES = {".gitignore": "out/\n", "a": "1\n2\n3\n", "b": "b\n", "dir/c": "c\n" * 20}


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


@pytest.fixture
def repo(lab: RepoBuilder) -> Repository:
    repo = lab.open(lab.repo(files=FILES))
    for n in range(2):
        repo.create(lab.place(f"w-{n}"), f"fan/w-{n}", repo.head().oid)
    return repo


@pytest.fixture
def tree(lab: RepoBuilder) -> Path:
    return lab.place("w-0")


@pytest.fixture
def trees(repo: Repository) -> Iterator[Trees]:
    with open_trees(repo) as trees:
        yield trees


def measured(trees: Trees, repo: Repository, path: Path) -> Measured:
    return trees.measure(path, repo.head().oid, "main")


def files(what: Measured) -> list[tuple[str, int | None, int | None, str]]:
    return [(one.path, one.added, one.removed, one.was) for one in what.touched]


def test_a_fresh_worktree_has_nothing_of_its_own(
    lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path
) -> None:
    """No file, no commit, and the tree of its commit."""
    what = measured(trees, repo, tree)
    assert (what.touched, what.commits, what.snapshot.uncommitted) == ([], 0, 0)
    assert what.snapshot == Snapshot(repo.head().oid, "fan/w-0", lab.git(tree, "rev-parse", "HEAD^{tree}"), 0)


def test_commits_edits_and_untracked_files_count_together(
    lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path
) -> None:
    """Committed, staged, edited, deleted, untracked, binary and renamed work is one difference.

    Red when untracked or staged files are left out.
    """
    lab.commit(tree, {"committed": "x\ny\n"})
    lab.write(tree, {"staged": "s\n", "a": "1\nzwei\n3\n4\n", "new/deep": "n\n", "out/ignored": "o\n"})
    lab.git(tree, "add", "staged")
    lab.git(tree, "mv", "dir/c", "dir/moved")
    (tree / "b").unlink()
    (tree / "bin").write_bytes(b"\0\1")
    (tree / "link").symlink_to("/nowhere")
    what = measured(trees, repo, tree)
    assert files(what) == [
        ("a", 2, 1, ""),
        ("b", 0, 1, ""),
        ("bin", None, None, ""),
        ("committed", 2, 0, ""),
        ("dir/moved", 0, 0, "dir/c"),
        ("link", 1, 0, ""),
        ("new/deep", 1, 0, ""),
        ("staged", 1, 0, ""),
    ]
    assert (what.commits, what.base) == (1, repo.head().oid)


def test_looking_leaves_no_trace(lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path) -> None:
    """Index, objects, refs and config are byte for byte as before, and a held index lock is in nobody's way.

    Red when the agent's own index is used, or objects go into the repository.
    """
    lab.write(tree, {"a": "other\n", "new": "n\n"})
    (repo.common_dir / "worktrees" / "w-0" / "index.lock").touch()
    before = snapshot(repo.root), snapshot(tree)
    taken = trees.take(tree)
    assert trees.touched(repo.head().oid, taken.tree) == [Touched("a", 1, 3), Touched("new", 1, 0)]
    assert trees.patch(repo.head().oid, taken.tree, stat=False)
    assert (snapshot(repo.root), snapshot(tree)) == before
    assert lab.git(repo.root, "fsck", "--unreachable", "--no-progress") == ""


def test_any_edit_makes_another_tree(lab: RepoBuilder, trees: Trees, tree: Path) -> None:
    """A result is bound to this id: content, mode and untracked files are in it, ignored files and times are not."""
    seen = [trees.take(tree).tree]
    lab.write(tree, {"new": "1\n"})
    seen.append(trees.take(tree).tree)
    lab.write(tree, {"new": "2\n"})
    seen.append(trees.take(tree).tree)
    (tree / "new").chmod(0o755)
    seen.append(trees.take(tree).tree)
    assert len(set(seen)) == 4
    lab.write(tree, {"out/x": "1\n"})
    os.utime(tree / "new")
    assert trees.take(tree).tree == seen[-1]


def test_two_worktrees_against_each_other(lab: RepoBuilder, trees: Trees, tree: Path) -> None:
    """The patch leads from one's files to the other's, in bytes that are no text and whatever the settings say."""
    lab.git(tree, "config", "--global", "diff.noprefix", "true")
    lab.git(tree, "config", "--global", "color.ui", "always")
    lab.git(tree, "config", "--global", "core.pager", "false")
    lab.git(tree, "config", "--global", "diff.external", "false")
    (tree / "new").write_bytes(b"caf\xe9\x1b[31m\r\n")
    one, other = trees.take(tree), trees.take(lab.place("w-1"))
    patch = trees.patch(other.tree, one.tree, stat=False)
    assert patch.startswith(b"diff --git a/new b/new\nnew file mode 100644\n")
    assert patch.endswith(b"+caf\xe9\x1b[31m\r\n")
    assert trees.patch(other.tree, one.tree, stat=True).split() == (
        b"new | 1 + 1 file changed, 1 insertion(+)".split()
    )
    assert trees.patch(one.tree, one.tree, stat=False) == b""


def test_names_that_are_no_text(lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path) -> None:
    """Tabs, line ends, quotes, leading dashes and bytes outside UTF-8 are names like others."""
    names = [b"-n", b'"q" \\', b"t\tt", b"l\nl", b"caf\xe9", "ü".encode()]
    for name in names:
        (tree / os.fsdecode(name)).write_text("x\n")
    found = {os.fsencode(one.path) for one in measured(trees, repo, tree).touched}
    assert found == set(names)


def test_an_open_conflict_is_compared_by_its_files(
    lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path
) -> None:
    """Unmerged paths count with what stands in the folder."""
    lab.commit(lab.place("w-1"), {"a": "theirs\n"})
    lab.commit(tree, {"a": "ours\n"})
    with pytest.raises(AssertionError, match="git merge"):
        lab.git(tree, "merge", "fan/w-1")
    (one,) = measured(trees, repo, tree).touched
    assert one.path == "a"
    assert (one.added or 0) >= 5


def test_a_base_that_moved_on_is_followed_only_by_who_did(lab: RepoBuilder, repo: Repository, tree: Path) -> None:
    """After a rebase onto the newer base its files are not the member's; without one, and once the member has been
    merged, the old start counts.

    Red when the recorded commit is always taken for the base.
    """
    start = repo.head().oid
    lab.commit(tree, {"mine": "m\n"})
    lab.commit(repo.root, {"theirs": "t\n"})
    with open_trees(repo) as trees:
        assert [one.path for one in trees.measure(tree, start, "main").touched] == ["mine"]
        lab.git(tree, "rebase", "--quiet", "main")
        what = trees.measure(tree, start, "main")
        assert ([one.path for one in what.touched], what.commits) == (["mine"], 1)
        assert what.base == repo.head().oid
        lab.git(repo.root, "merge", "--quiet", "--ff-only", "fan/w-0")
        what = trees.measure(tree, start, "main")
        assert (what.base, what.commits) == (start, 2)
        lab.git(repo.root, "branch", "--quiet", "-m", "trunk")
        assert trees.measure(tree, start, "main").base == start


def test_a_detached_or_unborn_head_is_compared(lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path) -> None:
    """Files count wherever HEAD is; a branch without a commit has none of its own."""
    lab.git(tree, "checkout", "--quiet", "--detach")
    lab.commit(tree, {"new": "n\n"})
    what = measured(trees, repo, tree)
    assert (what.snapshot.branch, what.commits, files(what)) == (None, 1, [("new", 1, 0, "")])
    lab.git(tree, "checkout", "--quiet", "--orphan", "fresh")
    what = measured(trees, repo, tree)
    assert (what.snapshot.commit, what.commits, files(what)) == ("", 0, [("new", 1, 0, "")])


def test_repositories_inside_are_named(lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path) -> None:
    """With or without a commit, a nested repository spoils nothing and a note says that its files are left out."""
    lab.repo("worktrees/w-0/inner")
    lab.git(tree, "init", "--quiet", "empty")
    lab.write(tree, {"empty/x": "x\n", "new": "n\n"})
    what = measured(trees, repo, tree)
    assert [one.path for one in what.touched] == ["inner", "new"]
    assert [note.split()[0] for note in what.snapshot.notes] == ["empty", "inner"]


def test_a_sparse_checkout_has_not_deleted_the_rest(
    lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path
) -> None:
    """What is not checked out is not touched; a file made outside the cone is."""
    lab.git(tree, "sparse-checkout", "set", "--cone", "other")
    assert not (tree / "dir").exists()
    lab.write(tree, {"dir/new": "n\n"})
    assert files(measured(trees, repo, tree)) == [("dir/new", 1, 0, "")]


def test_a_worktree_that_cannot_be_read_is_told(lab: RepoBuilder, repo: Repository, trees: Trees, tree: Path) -> None:
    """A missing worktree and a filter that fails are refusals, never an empty difference."""
    lab.write(tree, {".gitattributes": "*.big filter=big\n", "x.big": "x\n"})
    lab.git(repo.root, "config", "filter.big.clean", "false")
    lab.git(repo.root, "config", "filter.big.required", "true")
    with pytest.raises(GitFailed, match=r"x\.big"):
        trees.take(tree)
    (tree / ".git").unlink()
    with pytest.raises(NotFound):
        trees.take(tree)
