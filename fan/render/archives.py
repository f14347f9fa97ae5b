"""Archives as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fan.core.plain import one_line, visible
from fan.render import output
from fan.render.cells import NOTHING, age
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.archive import Dropped, Entry, Shown

_SHOWN = 50


def entries(found: Sequence[Entry], now: float) -> str:
    """Id, age, branch, commit, number of files, and what is left of it."""
    return aligned([_entry(one, now) for one in found]) if found else ""


def shown(what: Shown, now: float) -> str:
    """The archive, its commits, its files, and its refs."""
    one, contents = what.archive, what.contents
    lines = [aligned([_entry(one, now)]).rstrip("\n"), f"was at {one_line(one.path)}"]
    if one.trash:
        lines.append(f"in the trash: {contents.trash_files} files, {contents.trash_bytes} bytes, ignored ones too")
    lines += [f"commit {commit.oid[:10]} {visible(commit.subject)}" for commit in contents.commits]
    lines += [f"file {one_line(name)}" for name in contents.files[:_SHOWN]]
    if len(contents.files) > _SHOWN:
        lines.append(f"and {len(contents.files) - _SHOWN} more files")
    lines += [f"refs/fan/archive/{one.id}/{part} {oid}" for part, oid in what.refs.items()]
    return "".join(f"{line}\n" for line in lines)


def dropped(what: Dropped) -> str:
    """A line for each that is gone, with its last commit."""
    for one in what.left:
        output.aside(f"warning: {one_line(one.session)} stays: {visible(one.reason)}")
    if not (what.dropped or what.left):
        return "there was nothing to drop\n"
    return "".join(f"dropped {one.id}: {_name(one)} at {one.commit[:10]}\n" for one in what.dropped)


def _entry(one: Entry, now: float) -> tuple[str, ...]:
    left = "restored" if one.restored else "trash and refs" if one.trash else "refs"
    count = f"{one.files} file{'' if one.files == 1 else 's'}"
    return one.id, age(one.at, now), one.verb or NOTHING, _name(one), one.commit[:10], count, left


def _name(one: Entry) -> str:
    return one_line(one.branch) or "(no branch)"
