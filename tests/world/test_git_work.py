"""What a worktree holds that would be missed, and what the guard lets near it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.errors import NotAllowed, NotFound
from fan.world.git import Repository, Work
from tests.support.repos import RepoBuilder

IGNORE = ".env\nout/\nnode_modules/\n__pycache__/\n"


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


@pytest.fixture
def repo(lab: RepoBuilder) -> Repository:
    repo = lab.open(lab.repo(files={".gitignore": IGNORE, "a.txt": "a\n", "b.txt": "b\n"}))
    for n in range(2):
        repo.create(lab.place(f"w-{n}"), f"fan/w-{n}", repo.head().oid)
    return repo


def look(lab: RepoBuilder, repo: Repository) -> Work:
    return repo.inspect(lab.place("w-0"), repo.head().oid)


def test_a_fresh_worktree_holds_nothing(lab: RepoBuilder, repo: Repository) -> None:
    """Nothing to miss."""
    work = look(lab, repo)
    assert not work.any
    assert not work.dirty
    assert (work.oid, work.branch, work.locked, work.operation) == (repo.head().oid, "fan/w-0", None, None)


@pytest.mark.field("B044")
def test_commits_are_counted_and_the_newest_named(lab: RepoBuilder, repo: Repository) -> None:
    """Two commits since the base, the last first."""
    lab.commit(lab.place("w-0"), {"c": "1"}, "One")
    lab.commit(lab.place("w-0"), {"c": "2"}, "Two words")
    work = look(lab, repo)
    assert (work.ahead, [commit.subject for commit in work.commits]) == (2, ["Two words", "One"])
    assert work.commits[0].oid == work.oid
    assert work.any


@pytest.mark.field("B045")
def test_uncommitted_files_are_work_though_there_is_no_commit(lab: RepoBuilder, repo: Repository) -> None:
    """Staged, modified and each untracked file are named by their whole path."""
    place = lab.place("w-0")
    lab.write(place, {"a.txt": "x\n", "b.txt": "y\n", "new/ü 1": "", "new/2": "", "new 3": ""})
    lab.git(place, "add", "a.txt")
    work = look(lab, repo)
    assert (work.staged, work.modified) == (("a.txt",), ("b.txt",))
    assert set(work.untracked) == {"new/ü 1", "new/2", "new 3"}
    assert (work.ahead, work.dirty) == (0, True)


@pytest.mark.field("B046")
def test_ignored_files_are_named_and_dependencies_are_apart(lab: RepoBuilder, repo: Repository) -> None:
    """A report in an ignored folder is named; node_modules and its like alone are no work."""
    place = lab.place("w-0")
    lab.write(place, {"node_modules/p/index.js": "", "sub/__pycache__/m.pyc": ""})
    assert not look(lab, repo).any
    lab.write(place, {"out/report.md": "r", "out/node_modules/x": "", ".env": "s"})
    work = look(lab, repo)
    assert set(work.ignored) == {"out/report.md", ".env"}
    assert set(work.dependencies) == {"node_modules/", "sub/__pycache__/"}
    assert work.any
    assert not work.dirty


@pytest.mark.field("B053")
def test_an_untracked_link_alone_is_no_work(lab: RepoBuilder, repo: Repository) -> None:
    """A link to the main checkout's dependencies counts as a link, whether ignored or not."""
    (repo.root / "node_modules").mkdir()
    (lab.place("w-0") / "node_modules").symlink_to(repo.root / "node_modules")
    work = look(lab, repo)
    assert work.links == ("node_modules",)
    assert not work.any


def test_a_link_of_the_agents_is_an_untracked_file(lab: RepoBuilder, repo: Repository) -> None:
    """Within the folder, to elsewhere or to nowhere: it is counted and named like any other untracked path.

    Red when every link passes for one of the setup's: `keep --merge` then merges nothing of it and says it had all.
    """
    place = lab.place("w-0")
    (place / "lnk").symlink_to("a.txt")
    (place / "out").symlink_to(lab.home)
    lab.write(place, {"new.txt": "n"})
    (place / "sub").mkdir()
    (place / "sub" / "none").symlink_to("nowhere")
    work = look(lab, repo)
    assert (work.untracked, work.untracked_count) == (("lnk", "new.txt", "out", "sub/none"), 4)
    assert work.dirty
    assert work.links == ()


def test_conflicts_and_operations_in_progress_are_told(lab: RepoBuilder, repo: Repository) -> None:
    """A merge that stopped is work, and its paths count as modified."""
    one, two = lab.place("w-0"), lab.place("w-1")
    lab.commit(one, {"a.txt": "one\n"})
    lab.commit(two, {"a.txt": "two\n"})
    assert repo.runner.at(one).ask("merge", "fan/w-1").code
    work = look(lab, repo)
    assert (work.operation, work.modified) == ("merge", ("a.txt",))


def test_stash_entries_made_on_the_branch_are_named(lab: RepoBuilder, repo: Repository) -> None:
    """Of the one stack that all worktrees share only the branch's own entries are listed."""
    for place in ("w-0", "w-1"):
        lab.write(lab.place(place), {"a.txt": f"{place}\n"})
        lab.git(lab.place(place), "stash", "push", "--quiet", "-m", f"mine {place}")
    stashes = look(lab, repo).stashes
    assert len(stashes) == 1
    assert "mine w-0" in stashes[0]


@pytest.mark.field("B012")
def test_a_submodule_is_a_problem_only_with_work_of_its_own(lab: RepoBuilder) -> None:
    """Initialised is no problem; an edit, and a commit that no remote has, name the submodule."""
    top = lab.repo()
    lab.submodule(top, "lib")
    repo = lab.open(top)
    base = repo.head().oid
    repo.create(lab.place("w-0"), "fan/w-0", base)
    lab.git(lab.place("w-0"), "submodule", "--quiet", "update", "--init")
    assert repo.inspect(lab.place("w-0"), base).problems == ()
    inside = lab.place("w-0") / "lib"
    lab.write(inside, {"lib.c": "int y;\n"})
    assert "lib: a repository inside, with uncommitted" in repo.inspect(lab.place("w-0"), base).problems[0]
    lab.git(inside, "commit", "--quiet", "-am", "unpushed")
    assert "lib: a repository inside, with commits" in repo.inspect(lab.place("w-0"), base).problems[0]
    lab.git(inside, "switch", "--quiet", "-c", "side")
    lab.git(inside, "push", "--quiet", "origin", "side")
    assert repo.inspect(lab.place("w-0"), base).problems == ()


def test_a_repository_inside_that_git_does_not_know_is_a_problem(lab: RepoBuilder, repo: Repository) -> None:
    """A clone in the worktree with commits of its own is named: the archive could not hold them."""
    inside = lab.place("w-0") / "tool"
    inside.mkdir()
    lab.git(inside, "init", "--quiet")
    lab.commit(inside, {"t": "t"})
    work = look(lab, repo)
    assert work.untracked == ("tool/",)
    assert "tool: a repository inside" in work.problems[0]


@pytest.mark.field("B048")
def test_the_main_checkout_and_strangers_never_pass_the_guard(lab: RepoBuilder, repo: Repository) -> None:
    """Main, the common folder, a sub-folder, a plain folder, another repository and its worktree are refused."""
    other = lab.repo("other")
    lab.git(other, "worktree", "add", "--quiet", "-b", "fan/w-9", str(lab.home / "foreign"))
    lab.write(lab.place("w-0"), {"sub/f": ""})
    refused = (
        repo.root,
        repo.common_dir,
        repo.common_dir / "worktrees/w-0",
        lab.place("w-0") / "sub",
        lab.home,
        other,
        lab.home / "foreign",
    )
    for path in refused:
        with pytest.raises(NotAllowed):
            repo.inspect(path, repo.head().oid)
    with pytest.raises(NotFound):
        repo.inspect(lab.place("none"), repo.head().oid)
    hub = lab.open(lab.hub(source=repo.root))
    with pytest.raises(NotAllowed):
        hub.inspect(hub.root, hub.head().oid)


@pytest.mark.field("B053")
def test_a_link_in_place_of_a_worktree_never_passes_the_guard(lab: RepoBuilder, repo: Repository) -> None:
    """A loser's folder replaced by a link to the winner's is refused; fails if links are followed."""
    lab.place("w-0").rename(lab.home / "away")
    lab.place("w-0").symlink_to(lab.place("w-1"))
    with pytest.raises(NotAllowed, match="symbolic link"):
        look(lab, repo)


def test_a_copy_of_a_worktree_never_passes_the_guard(lab: RepoBuilder, repo: Repository) -> None:
    """A folder whose .git file names an entry that points elsewhere is not that worktree."""
    copy = lab.home / "copy"
    copy.mkdir()
    (copy / ".git").write_bytes((lab.place("w-0") / ".git").read_bytes())
    with pytest.raises(NotAllowed, match="not where git keeps"):
        repo.inspect(copy, repo.head().oid)


def test_a_worktree_with_another_inside_never_passes_the_guard(lab: RepoBuilder, repo: Repository) -> None:
    """Removing the outer one would take the inner one along."""
    inner = lab.place("w-0") / ".worktrees" / "inner"
    lab.git(lab.place("w-0"), "worktree", "add", "--quiet", "-b", "inner", str(inner))
    with pytest.raises(NotAllowed, match="inner"):
        look(lab, repo)
