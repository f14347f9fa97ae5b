"""Merging a member's commits: whole, or with nothing changed at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fan.errors import Conflict, Dirty, FanError, GitFailed, NotAllowed, NotFound
from fan.world.git import Merge, Merged, Repository
from fan.world.git.run import Runner
from tests.support.repos import RepoBuilder, snapshot


@pytest.fixture
def lab(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path)


@pytest.fixture
def repo(lab: RepoBuilder) -> Repository:
    """A repository with the member `fan/x` that has one commit of its own."""
    top = lab.repo(files={".gitignore": "*.log\n", "a.txt": "a\n", "b.txt": "b\n", "d/e": "e\n"})
    repo = lab.open(top)
    repo.create(lab.place("x"), "fan/x", repo.head().oid)
    lab.commit(lab.place("x"), {"a.txt": "theirs\n", "new.txt": "n\n"}, "Work of x")
    return repo


def asked(lab: RepoBuilder, repo: Repository, **more: object) -> Merge:
    given: dict[str, object] = {
        "oid": lab.git(lab.place("x"), "rev-parse", "HEAD"),
        "branch": "fan/x",
        "into": "main",
        "how": "merge",
        "message": "Squash fan/x\n",
        "scratch": lab.home / "worktrees/.merge/one",
        "closed": frozenset({lab.place("x")}),
    } | more
    return Merge(**given)  # type: ignore[arg-type]


def everything(repo: Repository, lab: RepoBuilder) -> dict[str, object]:
    """The person's checkout, git's own state of it and of the member's, but for objects, logs and our lock."""
    seen = {
        name: found
        for top in (repo.root, lab.place("x"))
        for name, found in snapshot(top).items()
        if not name.startswith((".git/objects", ".git/fan.lock"))
    }
    return {name: found for name, found in seen.items() if not _folder_of_ours(name)}


def _folder_of_ours(name: str) -> bool:
    """Folders whose time of change git's own locks move."""
    return name in {".git", ".git/worktrees", ".git/refs", ".git/refs/heads"}


def refused(repo: Repository, lab: RepoBuilder, merge: Merge, kind: type[FanError]) -> FanError:
    """The merge is refused, and everything is byte for byte and in time as it was."""
    before = everything(repo, lab)
    with pytest.raises(kind) as caught:
        repo.merge(merge)
    assert everything(repo, lab) == before
    assert "nothing was removed" in caught.value.not_done
    return caught.value


def test_what_can_be_fast_forwarded_is(lab: RepoBuilder, repo: Repository) -> None:
    """Without commits of its own the branch moves to the member's commit; files and index follow."""
    was = repo.head().oid
    merged = repo.merge(asked(lab, repo))
    tip = lab.git(lab.place("x"), "rev-parse", "HEAD")
    assert merged == Merged("main", tip, "fast-forward", was, tip)
    assert (repo.root / "new.txt").read_text() == "n\n"
    assert lab.git(repo.root, "status", "--porcelain") == ""
    assert repo.merge(asked(lab, repo)) == Merged("main", tip, "nothing", tip, tip)


def test_a_merge_commit_is_the_persons(lab: RepoBuilder, repo: Repository) -> None:
    """Beside other commits a merge commit is made as git would: its message, the person's name, their hooks."""
    mine = lab.commit(repo.root, {"mine.txt": "m\n"}, "Mine")
    lab.hook(repo.root, f"echo ran > {lab.home}/hooked", "pre-merge-commit")
    merged = repo.merge(asked(lab, repo))
    shown = lab.git(repo.root, "log", "-1", "--format=%an %s %P")
    assert shown == f"Person Merge branch 'fan/x' {mine} {lab.git(lab.place('x'), 'rev-parse', 'HEAD')}"
    assert (merged.how, merged.was, merged.commit) == ("merge", mine, repo.head().oid)
    assert (lab.home / "hooked").exists()


@pytest.mark.parametrize("setting", ["false", "only", "true"])
def test_a_squash_is_one_commit(lab: RepoBuilder, repo: Repository, setting: str) -> None:
    """One commit with our message, whatever `merge.ff` says; a second one has nothing left to do.

    Red when --ff is left away: git takes no --squash with `merge.ff=false`.
    """
    lab.git(repo.root, "config", "merge.ff", setting)
    lab.commit(lab.place("x"), {"more.txt": "1\n"}, "More")
    was = repo.head().oid
    merged = repo.merge(asked(lab, repo, how="squash"))
    assert (merged.how, lab.git(repo.root, "log", "-1", "--format=%P|%B")) == ("squash", f"{was}|Squash fan/x\n")
    assert lab.git(repo.root, "diff", "--stat", "HEAD", "fan/x") == ""
    again = repo.merge(asked(lab, repo, how="squash"))
    assert (again.how, again.commit) == ("nothing", merged.commit)
    assert lab.git(repo.root, "status", "--porcelain") == ""
    assert not (repo.common_dir / "SQUASH_MSG").exists()


def test_fast_forward_only(lab: RepoBuilder, repo: Repository) -> None:
    """`ff-only` refuses where a merge commit would be needed, and changes nothing."""
    lab.commit(repo.root, {"mine.txt": "m\n"}, "Mine")
    told = refused(repo, lab, asked(lab, repo, how="ff-only"), Conflict)
    assert "cannot be fast-forwarded" in told.message
    lab.git(repo.root, "reset", "--quiet", "--hard", "HEAD^")
    assert repo.merge(asked(lab, repo, how="ff-only")).how == "fast-forward"


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_conflict_touches_nothing(lab: RepoBuilder, repo: Repository, how: str) -> None:
    """In conflict: named, and checkout, index, HEAD and every file's time are as they were.

    Red when the merge is tried and taken back instead of foreseen.
    """
    lab.commit(repo.root, {"a.txt": "mine\n"}, "Mine")
    (repo.root / "untracked").write_text("u\n")
    assert "a.txt" in refused(repo, lab, asked(lab, repo, how=how), Conflict).message


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_conflict_that_was_not_foreseen_is_undone(
    lab: RepoBuilder, repo: Repository, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a git that cannot foresee (before 2.38) the merge is taken back: same HEAD, files and status as before."""
    lab.commit(repo.root, {"a.txt": "mine\n"}, "Mine")
    (repo.root / "untracked").write_text("u\n")
    ask = Runner.ask

    def older(self: Runner, *words: str, **more: object) -> object:
        return ask(self, *(("merge-tree", "--unknown") if words[0] == "merge-tree" else words), **more)  # type: ignore[arg-type]

    def state() -> tuple[object, ...]:
        files = {name: (mode, text) for name, (mode, _, text) in snapshot(repo.root).items() if ".git/" not in name}
        told = [lab.git(repo.root, *line.split()) for line in ("status --porcelain=v2 --branch", "ls-files -s")]
        return files, told

    before = state()
    monkeypatch.setattr(Runner, "ask", older)
    with pytest.raises(Conflict, match=r"a\.txt"):
        repo.merge(asked(lab, repo, how=how))
    assert state() == before
    assert not any((repo.common_dir / name).exists() for name in ("MERGE_HEAD", "SQUASH_MSG", "MERGE_MSG"))


def test_a_dirty_checkout_is_left_alone(lab: RepoBuilder, repo: Repository) -> None:
    """A changed, a staged, a deleted file and a merge under way refuse it, each by name."""
    lab.write(repo.root, {"b.txt": "edited\n"})
    assert "b.txt" in refused(repo, lab, asked(lab, repo), Dirty).message
    lab.git(repo.root, "add", "b.txt")
    assert "b.txt" in refused(repo, lab, asked(lab, repo), Dirty).message
    lab.git(repo.root, "reset", "--quiet", "--hard")
    lab.git(repo.root, "branch", "other", "fan/x")
    lab.commit(repo.root, {"a.txt": "mine\n"}, "Mine")
    environ = repo.runner.environ
    subprocess.run(["git", "merge", "other"], cwd=repo.root, env=environ, check=False, capture_output=True)
    assert "a merge is under way" in refused(repo, lab, asked(lab, repo), Dirty).message


@pytest.mark.parametrize("name", ["new.txt", "out.log", "f/g", "h"])
def test_untracked_and_ignored_files_are_not_overwritten(lab: RepoBuilder, repo: Repository, name: str) -> None:
    """What lies where the merge would write is named, ignored or not: git itself overwrites ignored files quietly.

    Red without the look at what the merge would add.
    """
    lab.commit(lab.place("x"), {"out.log": "theirs\n", "f/g": "g\n", "h": "h\n"}, "Files")
    lab.write(repo.root, {{"f/g": "f", "h": "h/inside.log"}.get(name, name): "mine\n"})
    assert name in refused(repo, lab, asked(lab, repo), Dirty).message


def test_a_file_that_becomes_a_folder_is_in_nobodys_way(lab: RepoBuilder, repo: Repository) -> None:
    """Tracked files that leave with the merge make room: a file for a folder, and a folder for a file."""
    lab.git(lab.place("x"), "rm", "--quiet", "b.txt", "d/e")
    lab.commit(lab.place("x"), {"b.txt/inside": "i\n", "d": "a file now\n"}, "Turned round")
    assert repo.merge(asked(lab, repo)).how == "fast-forward"
    assert (repo.root / "b.txt/inside").read_text() == "i\n"


def test_what_a_refusing_hook_makes_git_say_is_true_after_the_merge_was_taken_back(
    lab: RepoBuilder, repo: Repository
) -> None:
    """git's advice to finish the merge is left out, and the next command is the merge by hand. Red when git's words
    are passed on whole."""
    lab.commit(repo.root, {"other": "o\n"}, "Meanwhile")
    lab.hook(repo.root, "echo not like this; exit 1", "pre-merge-commit")
    with pytest.raises(GitFailed, match="not like this") as raised:
        repo.merge(asked(lab, repo))
    error = raised.value
    assert "git commit" not in error.message
    assert (error.hint, bool(error.not_done)) == (f"git -C {repo.root} merge fan/x", True)


def test_a_refusing_hook_undoes_it(lab: RepoBuilder, repo: Repository) -> None:
    """A commit hook that says no undoes the squash whole; what it had changed in files is kept and named."""
    lab.hook(repo.root, "echo formatted > a.txt; echo not like this; exit 1", "pre-commit")
    before = lab.git(repo.root, "status", "--porcelain=v2", "--branch"), lab.git(repo.root, "stash", "list")
    with pytest.raises(GitFailed, match="not like this") as caught:
        repo.merge(asked(lab, repo, how="squash"))
    kept = caught.value.message.rstrip(".").rpartition(" ")[2]
    assert lab.git(repo.root, "show", f"{kept}:a.txt") == "formatted"
    now = lab.git(repo.root, "status", "--porcelain=v2", "--branch"), lab.git(repo.root, "stash", "list")
    assert now == before
    assert (repo.root / "a.txt").read_text() == "a\n"


def test_a_merge_that_is_broken_off_is_undone(
    lab: RepoBuilder, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter that does not end is ended with its git, and no lock file, merge or change is left.

    Red when git is killed outright: it then leaves its lock on the person's index.
    """
    lab.commit(lab.place("x"), {".gitattributes": "*.slow filter=slow\n", "z.slow": "z\n"}, "Slow")
    lab.git(repo.root, "config", "filter.slow.smudge", "sleep 60; cat")
    before = lab.git(repo.root, "status", "--porcelain=v2", "--branch")
    monkeypatch.setattr("fan.world.git.merge.HOOKS_LIMIT", 1.5)
    with pytest.raises(GitFailed, match="did not finish"):
        repo.merge(asked(lab, repo))
    assert lab.git(repo.root, "status", "--porcelain=v2", "--branch") == before
    assert [lock.name for lock in repo.common_dir.rglob("*.lock")] == ["fan.lock"]
    assert not (repo.common_dir / "MERGE_HEAD").exists()


def test_a_merge_without_a_name_for_the_person_is_undone(lab: RepoBuilder, repo: Repository) -> None:
    """Where git knows no author it says so, and nothing is half done."""
    lab.commit(repo.root, {"mine.txt": "m\n"}, "Mine")
    (lab.home / "gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    with pytest.raises(GitFailed):
        repo.merge(asked(lab, repo))
    assert lab.git(repo.root, "status", "--porcelain") == ""
    assert not (repo.common_dir / "MERGE_HEAD").exists()


def test_into_a_branch_that_nobody_has(lab: RepoBuilder, repo: Repository) -> None:
    """Merged in a checkout of ours that is gone afterwards; the person's is not touched, a conflict undone."""
    lab.git(repo.root, "branch", "release")
    before = {name: seen for name, seen in snapshot(repo.root).items() if ".git" not in name}
    merge = asked(lab, repo, into="release")
    lab.git(repo.root, "worktree", "add", "--quiet", str(merge.scratch), "release")  # one that was killed
    assert repo.merge(merge).how == "fast-forward"
    assert repo.branches()["release"] == merge.oid
    assert not merge.scratch.exists()
    assert [tree.path for tree in repo.worktrees()] == [repo.root, lab.place("x")]
    assert {name: seen for name, seen in snapshot(repo.root).items() if ".git" not in name} == before
    lab.git(repo.root, "branch", "--force", "release", "main")
    lab.commit(repo.root, {"a.txt": "mine\n"}, "Mine")
    lab.git(repo.root, "branch", "--force", "release", "main")
    refused(repo, lab, merge, Conflict)
    assert [tree.path for tree in repo.worktrees()] == [repo.root, lab.place("x")]
    with pytest.raises(NotFound, match="nowhere"):
        repo.merge(asked(lab, repo, into="nowhere"))


def test_never_into_a_members_checkout(lab: RepoBuilder, repo: Repository) -> None:
    """A branch that an agent has checked out is refused."""
    repo.create(lab.place("y"), "fan/y", repo.head().oid)
    closed = frozenset({lab.place("x"), lab.place("y")})
    with pytest.raises(NotAllowed, match="by an agent"):
        repo.merge(asked(lab, repo, into="fan/y", closed=closed))


@pytest.mark.parametrize("how", ["merge", "squash", "ff-only"])
def test_the_line_that_takes_it_back(lab: RepoBuilder, repo: Repository, how: str) -> None:
    """The line that is named brings the branch to the files it had, at once and after more commits."""
    if how != "ff-only":
        lab.commit(repo.root, {"mine.txt": "m\n"}, "Mine")
    tree = lab.git(repo.root, "rev-parse", "HEAD^{tree}")
    merged = repo.merge(asked(lab, repo, how=how))
    later = lab.commit(repo.root, {"later.txt": "l\n"}, "Later")
    for moved_on in (True, False):
        lab.git(repo.root, "reset", "--quiet", "--hard", later if moved_on else merged.commit)
        line = repo.take_back_line(merged)
        assert ("revert" in line) is moved_on
        subprocess.run(["sh", "-ec", line], env=lab.environ | {"GIT_EDITOR": "true"}, check=True, capture_output=True)
        lab.git(repo.root, "rm", "--quiet", "--ignore-unmatch", "later.txt")
        assert lab.git(repo.root, "write-tree") == tree
