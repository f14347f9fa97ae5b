"""`keep --merge`: the merge first, and nothing at all where it cannot be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fan.core.model import Member
from fan.errors import Conflict, Dirty, FanError, NotAllowed, NotFound, TargetGone, UsageError
from fan.verbs.keep import KeepRequest, Kept, keep
from fan.verbs.remove import RemoveRequest, remove
from fan.verbs.removing import Removed
from fan.verbs.undo import undo
from tests.support.groups import Groups, open_groups
from tests.support.repos import snapshot


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


def merge(groups: Groups, member: Member, **more: object) -> Kept:
    return keep(groups.world, KeepRequest(member.id, merge=True, **more))  # type: ignore[arg-type]


def tip(groups: Groups, ref: str = "main") -> str:
    return groups.repos.git(groups.top, "rev-parse", ref)


def refused(groups: Groups, kind: type[FanError], call: Callable[[], object]) -> FanError:
    """It is refused; no checkout, branch or record has changed."""

    def seen() -> tuple[object, ...]:
        places = [groups.top / name for name in ("a.txt", "b.txt", "src")]
        places += [one.path for one in groups.world.store.members()]
        files = [snapshot(one) if one.is_dir() else one.read_bytes() for one in places]
        return files, groups.repo.branches(), (groups.top / ".git/index").read_bytes(), groups.world.store.members()

    before = seen()
    with pytest.raises(kind) as caught:
        call()
    assert seen() == before
    assert caught.value.not_done
    return caught.value


def test_merged_then_the_others_go_and_undo_leaves_the_merge(groups: Groups) -> None:
    """The winner's commit is in the branch the person stands on and the others are gone; undo brings them back, and
    names the line that takes the merge back without moving the branch.

    Red when undo forgets what came before the removal.
    """
    one, two, three = groups.group()
    oid = groups.work(two, {"x.txt": "x\n"})
    was = tip(groups)
    kept = merge(groups, two)
    assert kept.merged is not None
    assert (kept.merged.into, kept.merged.commit, kept.merged.how) == ("main", oid, "fast-forward")
    assert ([row.id for row in kept.removed], kept.left, kept.merge) == ([one.id, three.id], [], "")
    assert two.path.is_dir()
    undone = undo(groups.world)
    assert [row.id for row in undone.restored] == [one.id, three.id]
    assert tip(groups) == oid
    assert any(note.endswith(f"git -C {groups.top} reset --keep {was}") for note in undone.notes), undone.notes


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_conflict_removes_nobody(groups: Groups, how: str) -> None:
    """A winner in conflict with the branch: refused with the files; no sibling, branch or file has changed."""
    one, _, _ = groups.group()
    groups.work(one, {"a.txt": "theirs\n"})
    groups.repos.commit(groups.top, {"a.txt": "mine\n"})
    told = refused(groups, Conflict, lambda: merge(groups, one, squash=how == "squash"))
    assert "a.txt" in told.message


def test_uncommitted_work_of_the_winner_is_named(groups: Groups) -> None:
    """A merge takes commits only: staged, changed and new files refuse it, ignored ones do not."""
    one, _ = groups.group(2)
    groups.work(one, {"x.txt": "x\n"})
    groups.repos.write(one.path, {"run.log": "ignored\n"})
    for name in ("a.txt", "new.txt"):
        groups.repos.write(one.path, {name: "edited\n"})
        told = refused(groups, Dirty, lambda: merge(groups, one))
        assert name in told.message
        assert "commit" in told.hint
        groups.repos.git(one.path, "stash", "push", "--quiet", "--include-untracked")
    assert merge(groups, one).merged


def test_a_squash_names_group_and_branch(groups: Groups) -> None:
    """One commit of the person's on the branch, with the group, the member's branch and what its commits said."""
    one, _ = groups.group(2, "fan/mend")
    groups.work(one, {"x.txt": "x\n"}, "First try")
    groups.work(one, {"y.txt": "y\n"}, "Second try")
    was = tip(groups)
    kept = merge(groups, one, squash=True)
    assert kept.merged is not None
    assert kept.merged.how == "squash"
    said = groups.repos.git(groups.top, "log", "-1", "--format=%an|%P|%B")
    assert said == f"Person|{was}|Squash fan/mend\n\nFrom the group fan/mend.\n\n* First try\n* Second try\n"


def test_what_the_agent_stands_on_is_merged(groups: Groups) -> None:
    """A branch that the agent renamed or switched to, and a commit on none: that is what is merged, and said."""
    one, two, three = (groups.group(1)[0] for _ in range(3))
    groups.work(one, {"1.txt": "1\n"})
    groups.repos.git(one.path, "branch", "--move", "better/name")
    kept = merge(groups, one)
    assert kept.kept.branch == "better/name"
    assert kept.notes == [f"{one.branch}: its agent is on the branch better/name now"]
    groups.repos.git(two.path, "switch", "--quiet", "--create", "elsewhere")
    groups.work(two, {"2.txt": "2\n"})
    assert merge(groups, two).kept.branch == "elsewhere"
    groups.repos.git(three.path, "switch", "--quiet", "--detach")
    oid = groups.work(three, {"3.txt": "3\n"})
    without = keep(groups.world, KeepRequest(three.id))
    assert without.merge == f"git merge {oid}"
    kept = merge(groups, three)
    assert any("on no branch" in note for note in kept.notes)
    assert sorted(one.name for one in groups.top.glob("?.txt")) == ["1.txt", "2.txt", "3.txt", "a.txt", "b.txt"]
    assert f"Merge commit '{oid}'" in groups.repos.git(groups.top, "log", "-1", "--format=%s")


def test_where_it_is_merged(groups: Groups) -> None:
    """Into the branch of the checkout one stands in; from a member's folder or outside, into the main checkout's;
    `--into` names another, checked out or not; never into an agent's."""
    hand = groups.folder / "hand"
    groups.repos.git(groups.top, "worktree", "add", "--quiet", "-b", "hand", str(hand))
    groups.repos.git(groups.top, "branch", "release")
    one, other = groups.group(1)[0], groups.group(1)[0]
    oid = groups.work(one, {"x.txt": "x\n"})
    for place, into in ((hand / "src", None), (one.path / "src", None), (groups.folder, "release")):
        kept = keep(groups.at(place), KeepRequest(one.id, merge=True, into=into))
        assert kept.merged is not None
        assert kept.merged.commit == oid
    assert {name: tip(groups, name) for name in ("hand", "main", "release")} == dict.fromkeys(
        ("hand", "main", "release"), oid
    )
    assert not list(groups.world.paths.worktrees.glob(".merge/*"))
    for into, kind in ((other.branch, NotAllowed), ("nowhere", NotFound)):
        assert into in refused(groups, kind, lambda into=into: merge(groups, one, into=into)).message  # type: ignore[misc]
    groups.repos.git(groups.top, "switch", "--quiet", "--detach")
    assert "--into" in refused(groups, UsageError, lambda: merge(groups, one)).hint


@pytest.mark.parametrize("more", [{"squash": True}, {"ff_only": True}, {"into": "main"}])
def test_how_to_merge_goes_with_merge(groups: Groups, more: dict[str, object]) -> None:
    """`--squash`, `--ff-only` and `--into` without `--merge`, and two ways at once, are refused before anything."""
    one, _ = groups.group(2)
    refused(groups, UsageError, lambda: keep(groups.world, KeepRequest(one.id, **more)))  # type: ignore[arg-type]
    both = KeepRequest(one.id, merge=True, squash=True, ff_only=True)
    refused(groups, UsageError, lambda: keep(groups.world, both))


def test_locked_and_missing_worktrees(groups: Groups) -> None:
    """A locked loser stays, with the reason; of one whose folder is away, commits and index are kept; a winner
    without a folder is refused."""
    one, two, three, four = groups.group(4)
    groups.work(three, {"x.txt": "x\n"})
    groups.repos.git(groups.top, "worktree", "lock", "--reason", "on a stick", str(two.path))
    three.path.rename(groups.folder / "away")
    four.path.rename(groups.folder / "away too")
    refused_by = pytest.raises(TargetGone)
    with refused_by:
        merge(groups, four)
    kept = keep(groups.world, KeepRequest(one.id))
    assert [left.session for left in kept.left] == [two.session]
    assert "on a stick" in kept.left[0].reason
    assert (kept.exit_code, [row.id for row in kept.removed]) == (5, [three.id, four.id])
    assert any("had gone before" in note for note in kept.notes)


def _together(*calls: Callable[[], object]) -> list[object]:
    """What each of them gave or raised, all begun at once."""
    ended: list[object] = [None] * len(calls)

    def run(index: int) -> None:
        try:
            ended[index] = calls[index]()
        except FanError as error:
            ended[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def test_two_keeps_at_once_leave_one_winner(groups: Groups) -> None:
    """Of two that keep different members, one happens whole and the other is refused.

    Red without the lock around looking and removing: each takes the other's winner, and nobody is left.
    """
    for _ in range(3):
        members = groups.group(4)
        worlds = [groups.at(groups.top) for _ in range(2)]
        ended = _together(
            *(
                lambda world=world, one=one: keep(world, KeepRequest(one.id))
                for world, one in zip(worlds, members, strict=False)
            )
        )
        (kept,) = [one for one in ended if isinstance(one, Kept)]
        (lost,) = [one for one in ended if isinstance(one, FanError)]
        assert (len(kept.removed), kept.left, lost.code) == (3, [], "not_found")
        assert [one.id for one in groups.world.store.members() if one.group == members[0].group] == [kept.kept.id]


def test_two_rm_and_an_undo_at_once(groups: Groups) -> None:
    """Two `rm` of one member: one happens, one is refused; an `undo` beside a `keep` comes whole before or after."""
    one, two, three = groups.group(3)
    worlds = [groups.at(groups.top) for _ in range(2)]
    request = RemoveRequest((one.id,))
    ended = _together(*(lambda world=world: remove(world, request) for world in worlds))
    assert sorted(type(one).__name__ for one in ended) == ["NotFound", "Removed"]
    assert all(isinstance(one, NotFound) or (isinstance(one, Removed) and not one.left) for one in ended)
    kept, _ = _together(lambda: keep(worlds[0], KeepRequest(three.id)), lambda: undo(worlds[1]))
    assert isinstance(kept, Kept)
    living = {one.id for one in groups.world.store.members()}
    # The undo took back the rm and keep then removed both, or it took back what keep had removed.
    assert living in ({three.id}, {two.id, three.id})
    while living != {one.id, two.id, three.id}:
        undo(groups.world)
        living = {one.id for one in groups.world.store.members()}
