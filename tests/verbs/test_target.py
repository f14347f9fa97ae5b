"""What a name means: a group or a member, here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core.model import Member
from fan.errors import Ambiguous, NotFound, Undeliverable
from fan.verbs.mail import MailRequest, mail
from fan.verbs.mailbox import ReadRequest, read
from fan.verbs.target import Known, find, known, members_meant, removed
from fan.world.world import World
from tests.support.groups import Groups, open_groups


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    with open_groups(tmp_path / "g") as made:
        yield made


@pytest.fixture
def elsewhere(groups: Groups) -> World:
    """The same record, seen from another repository."""
    return groups.at(groups.repos.repo("other"))


def ids(world: World, *names: str) -> tuple[list[str], list[str]]:
    meant, named = members_meant(world, names)
    return [one.member.id for one in meant], [one.member.id for one in named]


def record(groups: Groups, world: World, stem: str, like: Member, number: int, branches: list[str]) -> list[Member]:
    """A group on record in the repository that `world` stands in, by way of one that has worktrees."""
    known = groups.world.store.group(like.group)
    group = replace(known, id=f"other{number:03}", stem=stem, repo=world.git.repository(world.cwd).root)
    members = [
        replace(
            like,
            id=f"o{number:03}{n:04}",
            group=group.id,
            n=n,
            branch=branch,
            path=world.cwd.parent / f"{number}-{n}",
            session=f"other-{number}-{n}",
            pane=f"%9{number}{n}",
            launch=f"lo{number}{n}",
        )
        for n, branch in enumerate(branches, 1)
    ]
    groups.world.store.add_group(group, members, [])
    return members


def test_a_name_that_fits_both_means_the_group(groups: Groups) -> None:
    """A group is called as its first member's branch; the member alone is meant by `GROUP:1`. Each counts once."""
    one, two = groups.group(2, "fan/mend")
    for name in ("fan/mend", "mend", one.group):
        assert ids(groups.world, name) == ([one.id, two.id], [])
    assert ids(groups.world, "mend:1") == ([one.id], [one.id])
    assert ids(groups.world, two.session, "mend", one.id) == ([two.id, one.id], [two.id, one.id])


def test_what_is_here_comes_before_what_is_not(groups: Groups, elsewhere: World) -> None:
    """A group here, else a member here, else a group elsewhere, else a member elsewhere.

    Red when a group elsewhere takes the name of a member here: its agents would be resumed in place of the one meant.
    """
    mend, _ = groups.group(2, "fan/mend")
    (fix,) = groups.group(1, "fan/fix")
    (here,) = record(groups, elsewhere, "fan/other", fix, 1, ["fan/mend"])
    assert ids(elsewhere, "fan/mend") == ([here.id], [here.id])
    assert ids(elsewhere, "fan/fix") == ([fix.id], [])
    assert ids(elsewhere, mend.id) == ([mend.id], [mend.id])
    (own,) = record(groups, elsewhere, "fan/fix", fix, 2, ["fix-it"])
    assert ids(elsewhere, "fan/fix") == ([own.id], [])
    assert ids(groups.world, "fan/fix") == ([fix.id], [])


def test_a_name_that_means_nothing_or_too_much_is_refused(groups: Groups, elsewhere: World) -> None:
    """Nothing is chosen then, whatever else was named."""
    (one,) = groups.group(1, "fan/mend")
    record(groups, elsewhere, "fan/mend", one, 1, ["x"])
    with pytest.raises(NotFound, match="no member `fan/mand`"):
        ids(groups.world, one.id, "fan/mand")
    with pytest.raises(Ambiguous, match="several repositories"):
        ids(groups.at(groups.folder), "fan/mend")


def test_a_removed_member_has_the_names_of_a_living_one(groups: Groups, elsewhere: World) -> None:
    """By each of them its mail can be read, and is refused as removed; of several that are gone the one of this
    repository is meant, then the last. Red when `GROUP:N`, by which rows and mail call it, is left out.
    """
    one, two = groups.group(2, "fan/mend")
    (other,) = record(groups, elsewhere, "fan/mend", one, 1, ["x"])
    store = groups.world.store
    store.update_member(two.id, removed_at=5.0)
    store.update_member(other.id, removed_at=6.0)
    for name in ("fan/mend:2", "mend:2", two.id, two.session, two.branch, two.pane):
        assert removed(groups.world, name) == Known(replace(two, removed_at=5.0), store.group(two.group))
        with pytest.raises(Undeliverable, match="fan/mend:2 was removed"):
            mail(groups.world, MailRequest(name, "x"))
        assert read(groups.world, ReadRequest(name)).inbox == "fan/mend:2"
    store.update_member(one.id, removed_at=4.0)
    for world, gone in ((groups.world, one), (elsewhere, other)):
        found = removed(world, "mend:1")
        assert found is not None
        assert found.member.id == gone.id
    for name in ("", "fan/mend:3"):
        assert removed(groups.world, name) is None
        with pytest.raises(NotFound):
            read(groups.world, ReadRequest(name))


def test_near_names_are_of_this_repository(groups: Groups, elsewhere: World) -> None:
    """A slip is answered with names that work here. Red when another repository's members are offered."""
    (one,) = groups.group(1, "fan/yondrx")
    record(groups, elsewhere, "fan/y", one, 7, ["fan/yonder"])
    everybody = known(elsewhere)
    repo = elsewhere.git.repository(elsewhere.cwd).root
    with pytest.raises(NotFound, match="did you mean") as refused:
        find(everybody, "fan/yondr", repo)
    assert "fan/yonder" in refused.value.message
    assert "fan/yondrx" not in refused.value.message
