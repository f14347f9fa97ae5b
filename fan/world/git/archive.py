"""Keeps a worktree's commits, index and files as commits under `refs/fan/archive/NAME/{head,index,tree}`."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from fan.errors import DiskFailed, GitFailed, NotFound
from fan.world.git.admin import Entry
from fan.world.git.objects import open_repo
from fan.world.git.run import Runner
from fan.world.git.trash import Manifest, check_name
from fan.world.git.values import Archive, Commit
from fan.world.git.work import Changes

ROOT = "refs/fan/archive/"
_DURABLE = ("-c", "core.fsync=committed,loose-object,reference")
_SHOWN = 20
_NOT_REMOVED = "nothing was removed"


def record(
    git: Runner, entry: Entry, manifest: Manifest, scratch: Path, changes: Changes | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Writes the commits and refs of a removal; gives the ids by `head`, `index`, `tree`, and notes.

    `git` runs in the worktree; when that is gone, `changes` is None and it runs on the administrative
    folder. `scratch` names a file for a copy of the index. What a removal broken off earlier recorded under the same
    name stays reachable: its commits become parents. Raises GitFailed if anything could not be taken in.
    """
    earlier = _refs(git, manifest.archive)
    index = Index(git, entry, scratch)
    refs = {"head": manifest.head}
    notes: tuple[str, ...] = ()
    whole: str | None = f"{manifest.head}^{{tree}}"
    if changes is not None and changes.index_is_head:
        refs["index"] = manifest.head
    else:
        whole = index.write()
        if whole is None:
            notes = ("the index has unmerged paths; it is in the trash only, the files are in the refs",)
        else:
            refs["index"] = _commit(git, whole, (manifest.head,), manifest, "index")
    if changes is not None and changes.unrecorded:
        whole = index.write_files(changes.unrecorded)
    if changes is None and "tree" in earlier:
        whole = f"{earlier['tree']}^{{tree}}"  # the folder is gone: nothing later is known of its files
    whole = whole or f"{manifest.head}^{{tree}}"
    parents = dict.fromkeys((refs.get("index", manifest.head), *earlier.values()))
    refs["tree"] = _commit(git, whole, tuple(parents), manifest, "files")
    index.drop()
    _point(git, manifest.archive, refs)
    return refs, notes


class Index:
    """A copy of a worktree's index, to write trees from without touching the worktree's own."""

    def __init__(self, git: Runner, entry: Entry, scratch: Path) -> None:
        self._git = git
        self._scratch = scratch
        self._env = {"GIT_INDEX_FILE": str(scratch)}
        try:
            scratch.unlink(missing_ok=True)
            shutil.copy2(entry.folder / "index", scratch)
        except FileNotFoundError:
            return  # a worktree that was never filled has none
        except OSError as error:
            raise DiskFailed(f"cannot copy the index of {git.cwd}: {error}", not_done=_NOT_REMOVED) from error

    def write(self) -> str | None:
        """The tree of what is staged; None while paths are unmerged."""
        written = self._git.ask(*_DURABLE, "write-tree", env=self._env)
        return None if written.code else written.out.strip()

    def write_files(self, names: Sequence[str]) -> str:
        """The tree with the files of these paths as they are now; a path without a file goes."""
        added = self._git.ask(
            *_DURABLE,
            "-c",
            "core.splitIndex=false",
            "update-index",
            "--add",
            "--remove",
            "--replace",
            "-z",
            "--stdin",
            feed="".join(f"{name}\0" for name in names),
            env=self._env,
        )
        written = self.write()
        if added.code or written is None:
            raise GitFailed(
                f"git could not record all files of {self._git.cwd}: {added.words}", not_done=_NOT_REMOVED
            )
        return written

    def drop(self) -> None:
        """Deletes the copy."""
        self._scratch.unlink(missing_ok=True)


def find(common: Runner, name: str) -> Archive:
    """The archive of this name. Raises NotFound."""
    for one in archives(common, name):
        return one
    raise NotFound(f"there is no archive {name!r} in this repository", hint="fan archive ls")


def manifest_of(common: Runner, name: str) -> Manifest | None:
    """The manifest as the refs keep it, for when the trash is gone."""
    check_name(name)
    message = common.ask("log", "-1", "--format=%B", f"{ROOT}{name}/tree", "--")
    return Manifest.from_line(message.out.strip().rpartition("\n")[2])


def archives(common: Runner, name: str = "") -> list[Archive]:
    """The archives of the repository, or the one of that name, the newest first."""
    grouped: dict[str, dict[str, str]] = defaultdict(dict)
    manifests: dict[str, Manifest] = {}
    with open_repo(common) as repo:
        for ref in repo.refs_below(f"{ROOT}{name}"):
            archive, _, part = ref.path.removeprefix(ROOT).rpartition("/")
            if name not in ("", archive):
                continue  # packed refs are matched by prefix
            grouped[archive][part] = ref.oid
            if part == "tree" and (manifest := Manifest.from_line(ref.last_line)):
                manifests[archive] = manifest
    found = [
        Archive(key, Path(one.path), one.branch, one.head, one.at, grouped[key], one.base)
        for key, one in manifests.items()
    ]
    return sorted(found, key=lambda one: (-one.at, one.name))


def files(common: Runner, one: Archive) -> tuple[str, ...]:
    """The names that differ between its base and its files."""
    words = ("-r", "--no-renames", "--name-only", "-z", one.base, one.refs["tree"])
    return tuple(common.run("diff-tree", *words).split("\0")[:-1])


def commits(common: Runner, one: Archive) -> tuple[Commit, ...]:
    """What was committed since its base, the newest first, at most 20."""
    told = common.run("log", f"-{_SHOWN}", "-z", "--format=%H %s", one.oid, "--not", one.base)
    return tuple(Commit(*line.split(" ", 1)) for line in told.split("\0") if line)


def delete(common: Runner, name: str) -> None:
    """See Repository.delete_archive. Raises NotFound."""
    check_name(name)
    listed = common.run("for-each-ref", "--format=delete %(refname) %(objectname)", f"{ROOT}{name}/")
    if not listed:
        raise NotFound(f"there is no archive {name!r} in this repository", hint="fan archive ls")
    dropped = common.ask_patiently("update-ref", "--stdin", feed=listed)
    if dropped.code:
        raise GitFailed(f"git could not drop the archive {name!r}: {dropped.words}")


def _refs(git: Runner, name: str) -> dict[str, str]:
    """The ids that the archive of this name has now, by `head`, `index` and `tree`."""
    listed = git.run("for-each-ref", "--format=%(refname:lstrip=4) %(objectname)", f"{ROOT}{name}/")
    return dict(line.split(" ", 1) for line in listed.splitlines())


def _commit(git: Runner, tree: str, parents: Sequence[str], manifest: Manifest, what: str) -> str:
    """A commit by a fixed identity, whose message ends with the manifest."""
    when = f"@{int(manifest.at)} +0000"
    person = {"NAME": "fan", "EMAIL": "fan@localhost", "DATE": when}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    message = f"fan archive {manifest.archive}: {what}\n\n{manifest.as_line()}\n"
    above = [word for parent in parents for word in ("-p", parent)]
    return git.run(*_DURABLE, "commit-tree", "--no-gpg-sign", *above, tree, feed=message, env=env).strip()


def _point(git: Runner, name: str, refs: dict[str, str]) -> None:
    feed = "".join(f"update {ROOT}{name}/{part} {oid}\n" for part, oid in refs.items())
    pointed = git.ask_patiently(*_DURABLE, "update-ref", "--stdin", feed=feed)
    if pointed.code:
        raise GitFailed(f"git could not write the archive refs: {pointed.words}", not_done=_NOT_REMOVED)
