"""Names of groups, branches, sessions and folders. All pure; what is taken is passed in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

PREFIX = "fan/"
NOTHING_LEFT = "prompt"
WORDS, CHARACTERS, BYTES = 4, 32, 60
LONGEST = 200
"""Bytes of a name that becomes a file's: file systems take 255, and git and `fan` put endings and numbers to it."""
# fmt: off
STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "i", "in", "into", "is", "it", "its",
    "my", "of", "on", "or", "our", "please", "that", "the", "then", "this", "to", "us", "we", "with", "you", "your",
))
# fmt: on
ID_LETTERS = "abcdefghjkmnpqrstuvwxyz"
ID_SIGNS = ID_LETTERS + "23456789"


def stem_of(prompt: str) -> str:
    """The group's name for a prompt: `fan/` and its first four content words."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", prompt).lower())
    kept = [word for word in words if word not in STOP_WORDS][:WORDS]
    return PREFIX + (_cut("-".join(kept)) or NOTHING_LEFT)


def free_stem(stem: str, taken: Collection[str]) -> str:
    """`stem`, or with the first of `-b`, `-c`, ... that no living group has."""
    return next(name for name in _lettered(stem) if name not in taken)


def branches(stem: str, count: int, is_taken: Callable[[str], bool]) -> list[str]:
    """The first `count` of stem, stem-2, stem-3, ... whose branch and folder are free."""
    found: list[str] = []
    for name in _numbered(stem):
        if len(found) == count:
            break
        if not is_taken(name):
            found.append(name)
    return found


def blocking_branch(branch: str, existing: Collection[str]) -> str | None:
    """The existing branch that `branch` cannot stand beside: git keeps branches as files in folders."""
    parts = branch.split("/")
    above = {"/".join(parts[:length]) for length in range(1, len(parts))}
    return next((name for name in existing if name in above or name.startswith(branch + "/")), None)


def too_long(branch: str) -> bool:
    """Whether a part of the branch, or the folder named after all of it, has more bytes than it may have."""
    return any(len(name.encode("utf-8", "surrogateescape")) > LONGEST for name in (*branch.split("/"), slug(branch)))


def slug(text: str) -> str:
    """`text` with every run outside letters, digits and `_` made one `-`."""
    return re.sub(r"[^\w]+", "-", unicodedata.normalize("NFC", text)).strip("-") or "x"


def session_name(repo: str, branch: str, root: Path, is_taken: Callable[[str], bool]) -> str:
    """The tmux session's name; four hex digits of the root's hash only when two repositories would collide."""
    plain = slug(f"{repo}-{branch}")
    return f"{plain}-{root_hash(root)[:4]}" if is_taken(plain) else plain


def worktree_folder(base: Path, repo: str, root: Path, branch: str) -> Path:
    """Where the worktree of `branch` lies: by repository (two of one name are kept apart) and slug."""
    name = slug(repo).encode()[:LONGEST].decode(errors="ignore")
    return base / f"{name}-{root_hash(root)[:6]}" / slug(branch)


def root_hash(root: Path) -> str:
    """Hex digits that stand for a repository's folder."""
    from hashlib import sha256

    return sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()


def new_id(choice: Callable[[str], str]) -> str:
    """A member's or group's id: eight letters and digits, a letter first."""
    return choice(ID_LETTERS) + "".join(choice(ID_SIGNS) for _ in range(7))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key by which `x-10` comes after `x-9`."""
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.split(r"(\d+)", name))


def _cut(words: str) -> str:
    """At most 32 characters and 60 bytes, cut at a hyphen where there is one."""
    short = words
    while len(short) > CHARACTERS or len(short.encode()) > BYTES:
        head, hyphen, _ = short.rpartition("-")
        short = head if hyphen else short[:-1]
    return short


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}-{number}"
        number += 1


def _lettered(stem: str) -> Iterator[str]:
    yield stem
    letters = "bcdefghijklmnopqrstuvwxyz"
    for letter in letters:
        yield f"{stem}-{letter}"
    for first in "a" + letters:
        for second in "a" + letters:
            yield f"{stem}-{first}{second}"
