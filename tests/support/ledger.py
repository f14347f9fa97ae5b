"""What there was in members' folders, and whether it can still be reached."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fan.core.model import Member
from fan.world.world import World

Item = tuple[str, str, str]
"""Name, mode and blob id, as a tree of git's has them; or `commit`, nothing, and its id."""


class Home(Protocol):
    """A repository at `top`, and the world that its members are recorded in."""

    top: Path
    world: World


@dataclass
class Contents:
    """What a member has: `kept` must outlive everything, `ignored` the time until the sweep."""

    kept: set[Item] = field(default_factory=set)
    ignored: set[Item] = field(default_factory=set)


@dataclass
class Ledger:
    """Contents of members that are away. What their folders held must be found elsewhere."""

    home: Home
    away: dict[str, Contents] = field(default_factory=dict)

    def contents(self, member: Member) -> Contents:
        """What a member has in its folder, its index and as its HEAD."""
        found = Contents()
        if not member.path.is_dir():
            return found
        listed = self._git(member.path, "ls-files", "-z", "--stage", "--others", "--exclude-standard").split("\0")
        staged = [line.split("\t", 1) for line in listed if "\t" in line]
        tracked = {name: meta.split() for meta, name in staged}
        if all(meta[2] == "0" for meta in tracked.values()):
            found.kept |= {(name, meta[0], meta[1]) for name, meta in tracked.items()}
        shown = {*tracked, *(line for line in listed if "\t" not in line)}
        for item in on_disk(member.path):
            (found.kept if item[0] in shown else found.ignored).add(item)
        found.kept.add(("commit", "", self._git(member.path, "rev-parse", "HEAD").strip()))
        return found

    def lost(self, before: dict[str, Contents]) -> set[Item]:
        """What of `before`, and of what went earlier, can be reached no more: in no folder, trash, index or ref."""
        wanted = {item for one in (*before.values(), *self.away.values()) for item in (*one.kept, *one.ignored)}
        for found in self._places():
            wanted.difference_update(found)
            if not wanted:
                break
        return wanted

    def note(self, before: dict[str, Contents], discarded: Iterable[str] = ()) -> None:
        """After a verb: members whose folders are away are remembered, those that are back need it no more."""
        folders = {one.id: one.path for one in self.home.world.store.members(living=False)}
        for member, contents in before.items():
            if not folders[member].is_dir() and member not in discarded and contents.kept:
                earlier = self.away.get(member, Contents())
                self.away[member] = Contents(contents.kept | earlier.kept, contents.ignored)
        for member, contents in self.away.items():
            if folders[member].is_dir():
                contents.ignored.clear()

    def swept(self) -> None:
        """The trash was emptied: ignored files are gone as promised."""
        for contents in self.away.values():
            contents.ignored.clear()

    def _places(self) -> Iterator[set[Item]]:
        """The cheap ones first."""
        world = self.home.world
        living = [one for one in world.store.members() if one.path.is_dir()]
        yield {item for one in living for item in on_disk(one.path)}
        yield {item for tree in world.paths.worktrees.glob(".trash/*/tree") for item in on_disk(tree)}
        top = self.home.top
        yield {("commit", "", oid) for oid in self._git(top, "rev-list", "--all").split()}
        words = ("log", "--all", "--root", "-m", "--raw", "--no-renames", "--no-abbrev", "--format=", "-z")
        told = self._git(top, *words).split("\0")
        changes = [(name, *meta.split()) for meta, name in zip(told[::2], told[1::2], strict=False)]
        yield {(name, mode, oid) for name, _, mode, _, oid, _ in changes}
        yield {item for one in living for item in self.contents(one).kept}

    def _git(self, place: Path, *words: str) -> str:
        return self.home.world.git.repository(place).runner.at(place).run(*words)


def on_disk(top: Path) -> Iterator[Item]:
    """Every file and link below a folder, but for git's own."""
    for place, folders, names in os.walk(top):
        links = (name for name in folders if Path(place, name).is_symlink())
        yield from (_item(top, Path(place, name)) for name in (*names, *links) if name != ".git")


def _item(top: Path, file: Path) -> Item:
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        kind, data = "120000", os.fsencode(file.readlink())
    else:
        kind, data = "100755" if mode & stat.S_IXUSR else "100644", file.read_bytes()
    return str(file.relative_to(top)), kind, hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
