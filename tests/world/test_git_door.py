"""The git door: which git, which repository, what it stands on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fan.errors import NoCommit, NotAllowed, NotFound, ToolMissing, UsageError
from fan.world.git import Git
from fan.world.git.run import LOCATION_VARIABLES
from tests.support.repos import RepoBuilder

ODD = "My Project ü [x] 'q'"


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


def test_location_variables_are_those_git_lists(lab: RepoBuilder) -> None:
    """Every variable that this git treats as its own location is one we drop."""
    listed = set(lab.git(lab.home, "rev-parse", "--local-env-vars").split())
    assert listed <= set(LOCATION_VARIABLES)


def test_version_is_read_and_a_missing_or_old_git_is_named(lab: RepoBuilder, tmp_path: Path) -> None:
    """No git and an old git are both `tool_missing`, each with what to do."""
    assert Git(lab.environ).version() >= (2, 36)
    with pytest.raises(ToolMissing, match="not installed") as none:
        Git(lab.environ | {"PATH": str(tmp_path / "empty")}).version()
    assert none.value.hint
    old = tmp_path / "old"
    old.mkdir()
    (old / "git").write_text("#!/bin/sh\necho git version 2.30.2\n")
    (old / "git").chmod(0o755)
    with pytest.raises(ToolMissing, match=r"2\.30 is too old; fan needs 2\.36"):
        Git({"PATH": f"{old}:/usr/bin:/bin"}).version()


def test_a_repository_is_the_same_from_everywhere_in_it(lab: RepoBuilder) -> None:
    """Root and common folder agree between the main checkout, a sub-folder and a linked worktree."""
    top = lab.repo()
    lab.git(top, "worktree", "add", "--quiet", str(lab.place("hand")))
    for cwd, stands in ((top, top), (top / "src", top), (lab.place("hand"), lab.place("hand"))):
        repo = lab.open(cwd)
        assert (repo.root, repo.common_dir, repo.top) == (top, top / ".git", stands)
        assert (repo.name, repo.bare) == ("api", False)


def test_outside_of_a_repository_is_not_found(lab: RepoBuilder) -> None:
    """A folder without a repository, and one that is gone, are refused in one sentence."""
    with pytest.raises(NotFound, match="not inside a git repository"):
        lab.open(lab.home)
    with pytest.raises(NotFound, match="does not exist"):
        lab.open(lab.home / "gone")


def test_a_repository_of_somebody_else_is_refused_with_gits_words(lab: RepoBuilder) -> None:
    """'Dubious ownership' is `not_allowed`, and the hint is the line that allows it."""
    top = lab.repo()
    lab.environ["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    with pytest.raises(NotAllowed, match="dubious ownership") as refused:
        lab.open(top)
    assert "safe.directory" in refused.value.hint


@pytest.mark.field("B023")
def test_location_variables_do_not_lead_to_another_repository(lab: RepoBuilder) -> None:
    """GIT_DIR and its like from an alias or a hook are not obeyed; fails if the scrubbing is taken out."""
    first, second = lab.repo("first"), lab.repo("second")
    before = {file: file.read_bytes() for file in second.rglob("*") if file.is_file()}
    lab.environ |= {
        "GIT_DIR": str(second / ".git"),
        "GIT_WORK_TREE": str(second),
        "GIT_INDEX_FILE": str(second / ".git/index"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
    }
    repo = lab.open(first)
    assert repo.root == first
    repo.create(lab.place("one"), "fan/one", repo.head().oid)
    repo.remove(lab.place("one"), archive="a", trash=lab.home / "t", expect=None, base_oid=repo.head().oid, at=1)
    assert [one.name for one in repo.archives()] == ["a"]
    assert {file: file.read_bytes() for file in second.rglob("*") if file.is_file()} == before


@pytest.mark.field("B023")
def test_a_git_alias_acts_on_the_folder_it_is_called_in(lab: RepoBuilder) -> None:
    """The variables that git itself sets for an alias in a linked worktree lead to no other place."""
    top = lab.repo()
    lab.git(top, "worktree", "add", "--quiet", str(lab.place("hand")))
    variables = lab.git(lab.place("hand"), "-c", "alias.vars=!env -0", "vars")
    environ = dict(line.partition("=")[::2] for line in variables.split("\0") if line)
    assert "GIT_DIR" in environ
    assert Git(environ).repository(top).top == top


@pytest.mark.field("B011")
def test_a_repository_without_a_commit_says_so(lab: RepoBuilder) -> None:
    """One sentence and a command, whatever the first branch is called; no commit is made for the person."""
    top = lab.home / "fresh"
    top.mkdir()
    lab.git(top, "init", "--quiet", "--initial-branch=trunk")
    repo = lab.open(top)
    with pytest.raises(NoCommit, match="no commit yet") as refused:
        repo.head()
    assert "git commit" in refused.value.hint
    assert repo.branches() == {}


def test_an_unborn_branch_in_a_repository_with_others_asks_for_a_base(lab: RepoBuilder) -> None:
    """HEAD on an orphan branch is not called a repository without a commit."""
    top = lab.repo()
    lab.git(top, "checkout", "--quiet", "--orphan", "new")
    with pytest.raises(NotFound, match="'new'") as refused:
        lab.open(top).head()
    assert "--base" in refused.value.message


def test_head_tells_branch_and_commit_or_that_it_is_detached(lab: RepoBuilder) -> None:
    """A branch is its whole name, slashes and all; a detached HEAD has none."""
    top = lab.repo()
    lab.git(top, "switch", "--quiet", "-c", "a/b")
    repo = lab.open(top)
    oid = lab.git(top, "rev-parse", "HEAD")
    assert (repo.head().oid, repo.head().branch) == (oid, "a/b")
    lab.git(top, "switch", "--quiet", "--detach")
    assert (repo.head().oid, repo.head().branch) == (oid, None)


def test_resolve_names_what_sounds_alike(lab: RepoBuilder) -> None:
    """A tag, a short id and a branch resolve to the commit; a slip gets the near branch names."""
    top = lab.repo()
    oid = lab.git(top, "rev-parse", "HEAD")
    lab.git(top, "tag", "-a", "-m", "one", "v1")
    lab.git(top, "branch", "feature/login")
    repo = lab.open(top)
    assert {repo.resolve(ref) for ref in ("v1", oid[:8], "feature/login", "HEAD")} == {oid}
    with pytest.raises(NotFound, match="did you mean feature/login"):
        repo.resolve("feature/logn")
    for bad in ("", "--all", "HEAD~9"):
        with pytest.raises(NotFound):
            repo.resolve(bad)


@pytest.mark.parametrize("name", ["", "a..b", "-x", "a b", "x.lock", "@{-1}", "HEAD", "a\\b", "a:b"])
def test_impossible_branch_names_are_refused(lab: RepoBuilder, name: str) -> None:
    """What git would not take, or take for something else, is a usage error."""
    repo = lab.open(lab.repo())
    repo.check_branch_name("fan/ünïcode-2")
    with pytest.raises(UsageError):
        repo.check_branch_name(name)


@pytest.mark.field("B017")
def test_odd_folder_names_come_back_whole(lab: RepoBuilder) -> None:
    """Blanks, accents, quotes, brackets and line ends in paths survive discovery and listing."""
    top = lab.repo(ODD)
    repo = lab.open(top)
    assert (repo.root, repo.name) == (top, ODD)
    odd = lab.place(f"{ODD}\nline")
    repo.create(odd, "fan/odd", repo.head().oid)
    assert [tree.path for tree in repo.worktrees()] == [top, odd]
    assert lab.open(odd).root == top


@pytest.mark.field("B013")
@pytest.mark.parametrize(("name", "said"), [("hub.git", "hub"), ("proj/.bare", "proj")])
def test_a_bare_hub_works_from_itself_and_from_its_worktrees(lab: RepoBuilder, name: str, said: str) -> None:
    """Both hub layouts have one root, no top of their own, and keep their shared config byte for byte."""
    (lab.home / "proj").mkdir()
    hub = lab.hub(name)
    config = (hub / "config").read_bytes()
    repo = lab.open(hub)
    assert (repo.name, repo.top, repo.bare) == (said, None, True)
    repo.create(lab.place("one"), "fan/one", repo.head().oid)
    linked = lab.open(lab.place("one"))
    assert (linked.root, linked.bare, linked.top) == (repo.root, True, lab.place("one"))
    linked.create(lab.place("two"), "fan/two", linked.head().oid)
    assert [tree.bare for tree in linked.worktrees()] == [True, False, False]
    for one in ("one", "two"):
        repo.remove(lab.place(one), archive=one, trash=lab.home / "t", expect=None, base_oid=repo.head().oid, at=1)
    assert [tree.path for tree in repo.worktrees()] == [hub]
    assert (hub / "config").read_bytes() == config


@pytest.mark.field("B013")
def test_a_hub_that_makes_all_its_worktrees_bare_is_refused(lab: RepoBuilder) -> None:
    """`extensions.worktreeConfig` with bare in the shared config is named before anything is made."""
    hub = lab.hub()
    lab.git(hub, "config", "extensions.worktreeConfig", "true")
    config = (hub / "config").read_bytes()
    repo = lab.open(hub)
    with pytest.raises(NotAllowed, match=r"core\.bare") as refused:
        repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert (hub / "config").read_bytes() == config
    assert set(repo.branches()) == {"main"}
    for line in refused.value.hint.split(" && "):
        lab.git(hub, *line.split()[1:])
    repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert lab.git(lab.place("one"), "status", "--porcelain") == ""
    assert lab.open(lab.place("one")).head().branch == "fan/one"
    assert lab.open(hub).bare


def test_a_git_that_must_not_find_bare_repositories_still_serves(lab: RepoBuilder) -> None:
    """`safe.bareRepository=explicit` does not shut us out of the common folder of a plain repository."""
    top = lab.repo()
    with (lab.home / "gitconfig").open("a") as config:
        config.write("[safe]\n\tbareRepository = explicit\n")
    repo = lab.open(top)
    repo.create(lab.place("one"), "fan/one", repo.head().oid)
    assert set(repo.branches()) == {"main", "fan/one"}
    assert lab.open(lab.place("one")).root == top


def test_a_submodule_is_a_repository_of_its_own(lab: RepoBuilder) -> None:
    """Standing in a submodule, the root is the submodule's folder, also from a worktree of it."""
    top = lab.repo()
    lab.submodule(top)
    repo = lab.open(top / "lib")
    assert (repo.root, repo.top) == (top / "lib", top / "lib")
    repo.create(lab.place("lib-one"), "fan/one", repo.head().oid)
    assert lab.open(lab.place("lib-one")).root == top / "lib"


@pytest.mark.field("B072")
def test_a_branch_with_shell_marks_is_quoted_in_the_line_to_merge(lab: RepoBuilder) -> None:
    """The printed line merges the branch and runs nothing else; fails if the quoting is taken out."""
    top = lab.repo()
    branch = "fan/`touch${IFS}tell-tale`;x"
    repo = lab.open(top)
    repo.check_branch_name(branch)
    repo.create(lab.place("one"), branch, repo.head().oid)
    lab.commit(lab.place("one"), {"new.txt": "n\n"})
    subprocess.run(repo.merge_line(branch), shell=True, cwd=top, env=lab.environ, check=True, capture_output=True)
    assert (top / "new.txt").exists()
    assert not list(lab.home.rglob("tell-tale"))
