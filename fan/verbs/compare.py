"""`fan compare`: what each member of a group has made of the task, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from fan.core import compare as rules
from fan.core.compare import Tokens, Touched, Verdict, Verification
from fan.core.model import Row, State
from fan.core.recipe import Recipe
from fan.errors import FanError
from fan.verbs.rows import rows
from fan.verbs.target import Known, group_members
from fan.world import transcripts
from fan.world.files import there
from fan.world.git.compare import Measured, Trees, open_trees
from fan.world.world import World

WIDTH = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """One member against where it left its base. Counts are None where `problem` says why git could not tell.

    `uncommitted` counts paths, `seconds` the time from prompt to rest (None while that has not come), `shared` names
    the files that others touch too. A file without lines is binary.
    """

    id: str
    n: int
    branch: str
    agent: str
    state: str
    turn: str
    base: str = ""
    commit: str = ""
    commits: int | None = None
    uncommitted: int | None = None
    added: int | None = None
    removed: int | None = None
    files: list[Touched] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    verify: Verdict | None = None
    seconds: float | None = None
    tokens: Tokens | None = None
    notes: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """The members by number; `overlap` names for each file that several touch the members' ids."""

    group: str
    repo: str
    base: str
    members: list[Candidate]
    overlap: dict[str, list[str]]

    @property
    def exit_code(self) -> int:
        """0 all could be compared, 5 some, 1 none."""
        failed = sum(bool(one.problem) for one in self.members)
        return 0 if not failed else 1 if failed == len(self.members) else 5


def compare(world: World, name: str | None) -> Compared:
    """Compare the members of a group, untracked files included. Changes nothing; works while they work."""
    members = group_members(world, name)
    group = members[0].group
    seen = {row.id: row for row in rows(world, members, git=False)}
    with open_trees(world.git.repository(group.repo)) as trees, ThreadPoolExecutor(WIDTH) as pool:
        measured = list(pool.map(lambda one: _measured(trees, one), members))
    touched = {one.member.id: what.touched for one, what in _told(members, measured)}
    overlap = rules.overlap(touched)
    verifications = world.store.last_verifications()
    candidates = [
        _candidate(world, one, seen[one.member.id], what, verifications.get(one.member.id), overlap)
        for one, what in zip(members, measured, strict=True)
    ]
    return Compared(group.stem, str(group.repo), group.base, candidates, overlap)


def _measured(trees: Trees, one: Known) -> Measured | FanError:
    try:
        return trees.measure(one.member.path, one.member.base_oid, one.group.base)
    except FanError as error:
        return error


def _told(members: Sequence[Known], measured: Sequence[Measured | FanError]) -> list[tuple[Known, Measured]]:
    return [(one, what) for one, what in zip(members, measured, strict=True) if isinstance(what, Measured)]


def _candidate(
    world: World,
    one: Known,
    row: Row,
    what: Measured | FanError,
    check: Verification | None,
    overlap: Mapping[str, Sequence[str]],
) -> Candidate:
    tokens, notes = _tokens(world, one)
    common = Candidate(one.member.id, one.member.n, row.branch, row.agent, row.state, row.turn)
    common = replace(common, seconds=_seconds(world, one.member.id), tokens=tokens, notes=notes)
    if isinstance(what, FanError):
        return replace(common, problem=what.message)
    snapshot = what.snapshot
    return replace(
        common,
        branch=snapshot.branch or row.branch,
        base=what.base,
        commit=snapshot.commit,
        commits=what.commits,
        uncommitted=snapshot.uncommitted,
        added=sum(file.added or 0 for file in what.touched),
        removed=sum(file.removed or 0 for file in what.touched),
        files=what.touched,
        shared=[path for path, ids in overlap.items() if one.member.id in ids],
        verify=rules.verdict(check, snapshot.commit, snapshot.tree),
        notes=[*snapshot.notes, *notes],
    )


def _seconds(world: World, member_id: str) -> float | None:
    store = world.store
    rests = store.reported(member_id, State.REST)
    return rules.took(store.deliveries(member_id), store.changes(member_id), rests)


def _tokens(world: World, one: Known) -> tuple[Tokens | None, list[str]]:
    """What the agent's transcripts tell, and why where they cannot be read."""
    try:
        recipe = world.catalogue.recipe(one.member.agent)
        return _counted(world, one.member.id, recipe), []
    except FanError as error:
        return None, [error.message]


def _counted(world: World, member_id: str, recipe: Recipe) -> Tokens | None:
    if not (recipe.transcript and recipe.hooks):
        return None
    how = recipe.transcript.tokens
    counts = {"input": how.input, "cached": how.cached, "output": how.output}
    marks = [path.rpartition(".")[2] for paths in counts.values() for path in paths]
    files = [Path(text) for text in world.store.told(member_id, recipe.hooks.transcript)]
    items = (item for file in files if there(file) is not False for item in transcripts.items(file, marks))
    return rules.tokens(items, how.message, counts)
