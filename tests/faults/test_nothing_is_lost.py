"""Random sequences of what agents and people do: no content of a member's folder ever becomes unreachable."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fan.core.model import Member
from fan.errors import FanError
from fan.verbs.keep import KeepRequest, keep
from fan.verbs.remove import RemoveRequest, remove
from fan.verbs.undo import undo
from fan.world.git.trash import sweep
from fan.world.paths import trash_of
from tests.support.fuse import Crash, lit
from tests.support.groups import Groups
from tests.support.ledger import Ledger

STEPS = int(os.environ.get("FAN_LOST_STEPS", "600"))
"""How many rules are run in all; CI runs 10,000. One is one act: an edit, a commit, a verb, broken off or not."""
SHARES, LENGTH, MOST, FEWEST = 4, 60, 6, 6

WHO = st.integers(0, 99)
NAMES = st.sampled_from(["a.txt", "b.txt", "src/main.py", "new.txt", "deep/er/ü x", "run.log", "logs/1.log", "link"])
FUSES = st.one_of(st.none(), st.integers(0, 60), st.integers(0, 150))
done = {"steps": 0, "verbs": 0, "crashes": 0, "refused": 0}


class People(RuleBasedStateMachine):
    """Agents that work in their folders, a person who keeps, removes and undoes, and crashes at any effect."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="fan-l-", dir=os.path.realpath("/tmp")))
        self.groups = Groups(self.folder)
        self.ledger = Ledger(self.groups)
        self.written = 0

    def teardown(self) -> None:
        self.groups.world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @invariant()
    def counted(self) -> None:
        done["steps"] += 1

    # What there is to act on

    def living(self) -> list[Member]:
        return self.groups.world.store.members()

    def there(self) -> list[Member]:
        return [one for one in self.living() if one.path.is_dir()]

    def one(self, who: int) -> Member:
        found = self.there()
        return found[who % len(found)]

    def git(self, member: Member, *words: str) -> None:
        """An agent's own git, which may refuse."""
        subprocess.run(
            ["git", *words], cwd=member.path, env=self.groups.environ, capture_output=True, timeout=30, check=False
        )

    def text(self) -> str:
        self.written += 1
        return f"{self.written}\n" * 3

    def verb(self, act: Callable[[], Any], fuse: int | None = None, discarded: tuple[str, ...] = ()) -> None:
        """One verb, whole or broken off: what was there before can be reached after it."""
        before = {one.id: self.ledger.contents(one) for one in self.there()}
        for member in discarded:
            before.pop(member, None)
        done["verbs"] += 1
        try:
            if fuse is None:
                act()
            else:
                with lit(fuse):
                    act()
        except FanError:
            done["refused"] += 1
        except Crash:
            done["crashes"] += 1
            self.groups.world.store.close()
            self.groups.world = self.groups.at(self.groups.top)
        lost = self.ledger.lost(before)
        assert not lost, f"can be reached no more: {sorted(lost)}"
        self.ledger.note(before)

    # What a person asks for

    @initialize()
    def begin(self) -> None:
        self.fan(3, began=True)

    @precondition(lambda self: len(self.living()) < MOST)
    @rule(count=st.integers(1, 3), began=st.booleans())
    def fan(self, count: int, began: bool) -> None:
        self.verb(lambda: self.groups.group(count, began=began))

    @precondition(lambda self: self.there())
    @rule(who=WHO, how=st.sampled_from(["", "merge", "squash", "ff_only"]), fuse=FUSES)
    def keep(self, who: int, how: str, fuse: int | None) -> None:
        squash, ff_only = how == "squash", how == "ff_only"
        request = KeepRequest(self.one(who).id, merge=bool(how), squash=squash, ff_only=ff_only)
        self.verb(lambda: keep(self.groups.world, request), fuse)

    @precondition(lambda self: self.living())
    @rule(who=st.lists(WHO, min_size=1, max_size=3), fuse=FUSES)
    def rm(self, who: list[int], fuse: int | None) -> None:
        found = self.living()
        request = RemoveRequest(tuple({found[one % len(found)].id for one in who}))
        self.verb(lambda: remove(self.groups.world, request), fuse)

    @precondition(lambda self: self.there())
    @rule(who=WHO, fuse=FUSES)
    def rm_discard(self, who: int, fuse: int | None) -> None:
        member = self.one(who).id
        self.verb(lambda: remove(self.groups.world, RemoveRequest((member,), discard=True)), fuse, (member,))

    @rule(fuse=FUSES)
    def undo(self, fuse: int | None) -> None:
        self.verb(lambda: undo(self.groups.world), fuse)

    @rule()
    def sweep(self) -> None:
        now = self.groups.world.clock.now()
        self.ledger.swept()
        self.verb(lambda: sweep(trash_of(self.groups.world.paths.worktrees), -1.0, now))

    # What agents do

    @precondition(lambda self: self.there())
    @rule(who=WHO, names=st.lists(NAMES, min_size=1, max_size=3, unique=True), stage=st.booleans())
    def write(self, who: int, names: list[str], stage: bool) -> None:
        member = self.one(who)
        for name in names:
            _clear(member.path / name)
            self.groups.repos.write(member.path, {name: self.text()})
        if stage:
            self.git(member, "add", "--", *(name for name in names if not name.endswith(".log")))

    @precondition(lambda self: self.there())
    @rule(who=WHO, name=NAMES)
    def write_again(self, who: int, name: str) -> None:
        self.write(who, [name], stage=False)

    @precondition(lambda self: self.there())
    @rule(who=WHO, name=NAMES, what=st.sampled_from(["delete", "executable", "link", "folder"]))
    def change(self, who: int, name: str, what: str) -> None:
        place = self.one(who).path / name
        if what == "executable" and place.is_file() and not place.is_symlink():
            place.chmod(0o755)
        elif what != "executable":
            _clear(place)
            if what == "link":
                place.symlink_to(self.text().strip().replace("\n", "-"))
            elif what == "folder":
                self.groups.repos.write(place, {"inside": self.text()})

    @precondition(lambda self: self.there())
    @rule(who=WHO, everything=st.booleans())
    def commit(self, who: int, everything: bool) -> None:
        member = self.one(who)
        if everything:
            self.git(member, "add", "--all")
        self.git(member, "commit", "--quiet", "--message", self.text())

    @precondition(lambda self: self.there())
    @rule(who=WHO, how=st.sampled_from(["rename", "switch", "detach", "back"]))
    def branch(self, who: int, how: str) -> None:
        self.written += 1
        words = {
            "rename": ("branch", "--move", f"agents/{self.written}"),
            "switch": ("switch", "--quiet", "--create", f"agents/{self.written}"),
            "detach": ("switch", "--quiet", "--detach"),
            "back": ("reset", "--quiet", "--soft", "HEAD~1"),
        }
        self.git(self.one(who), *words[how])

    @precondition(lambda self: len(self.there()) > 1)
    @rule(who=WHO, other=WHO)
    def merge_in(self, who: int, other: int) -> None:
        self.git(self.one(who), "merge", "--quiet", "--no-edit", self.one(other).branch)

    @precondition(lambda self: self.there())
    @rule(who=WHO, lock=st.booleans())
    def lock(self, who: int, lock: bool) -> None:
        self.git(self.one(who), "worktree", "lock" if lock else "unlock", ".")

    @precondition(lambda self: self.there())
    @rule(who=WHO)
    def folder_deleted_by_hand(self, who: int) -> None:
        shutil.rmtree(self.one(who).path)

    @rule()
    def branches_deleted_by_hand(self) -> None:
        """All that no worktree stands on: the archives alone hold what was on them."""
        for name in self.groups.repo.branches():
            words, environ = ["git", "branch", "-D", name], self.groups.environ
            subprocess.run(words, cwd=self.groups.top, env=environ, capture_output=True, check=False)


def _clear(place: Path) -> None:
    """Nothing is at `place` or in its way."""
    for above in (place.parent, place.parent.parent):
        if above.is_symlink() or above.is_file():
            above.unlink()
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("share", range(SHARES))
def test_no_content_is_ever_lost(share: int) -> None:
    """Whatever is done in whatever order, and wherever a verb is broken off: every file (with its mode), link, staged
    file and commit that a member had is in a folder, the trash, or below a ref; ignored files until the sweep.

    Red when a removal archives without untracked files, when undo deletes the refs, when the trash is deleted first.
    """
    for key in done:
        done[key] = 0
    wanted = STEPS // SHARES
    while done["steps"] < wanted:
        # The first example of a run is always the plainest one: a run of few would never crash anything.
        runs = max(FEWEST, (wanted - done["steps"]) // LENGTH)
        run_state_machine_as_test(
            People,
            settings=settings(
                max_examples=runs,
                stateful_step_count=LENGTH,
                deadline=None,
                database=None,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
                print_blob=True,
            ),
        )
    print(f"share {share}: {done}")
    assert done["crashes"] > 0
