"""What a repository asks for in each worktree before its agent starts: files, commands, ports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec import Struct

from fan.core import patterns

FILE = "fan.toml"
INCLUDE = ".worktreeinclude"
MOST_PORTS = 1000
LAST_PORT = 65535


class Keys(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The keys of `fan.toml`. `copy` and `link` are patterns as in a `.gitignore`; `timeout` is in seconds a command.

    Raises ValueError for what cannot be meant.
    """

    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    teardown: tuple[str, ...] = ()
    check: str = ""
    ports: int = 0
    timeout: float = 600.0

    def __post_init__(self) -> None:
        for text in (*self.copy, *self.link):
            # `/name` ties a name to the top, as in a `.gitignore`; with more behind it, it was meant for elsewhere.
            if text.startswith("~/") or (text.startswith("/") and "/" in text.strip("/")):
                raise ValueError(f"`{text}` is an absolute path; paths start at the repository's top")
        patterns.parse((*self.copy, *self.link))
        for command in (*self.setup, *self.teardown):
            if not command.strip():
                raise ValueError("a command is empty")
        if any("\0" in text for text in (*self.setup, *self.teardown, self.check)):
            raise ValueError("a command holds a NUL character")
        if not 0 <= self.ports <= MOST_PORTS:
            raise ValueError(f"`ports` must be 0 to {MOST_PORTS}")
        if not (self.timeout > 0 and math.isfinite(self.timeout)):
            raise ValueError("`timeout` must be above 0")


class Setup(Struct, frozen=True):
    """All that was found: the keys, the lines of `.worktreeinclude`, and which files they are from."""

    keys: Keys
    include: tuple[str, ...]
    source: str

    @property
    def fingerprint(self) -> str:
        """Stands for all that the approval of a person covers; where it was written does not matter."""
        from hashlib import sha256  # OpenSSL: 5 ms that every start would pay

        return sha256(msgspec.json.encode((self.keys, self.include))).hexdigest()


def written(setup: Setup) -> list[str]:
    """What it would do, a line a thing, in the order in which it is done."""
    keys = setup.keys
    lines = [f"copy {text}" for text in keys.copy]
    lines += [f"copy {text} (if ignored)" for text in setup.include]
    lines += [f"link {text}" for text in keys.link]
    lines += [f"run {command}" for command in keys.setup]
    lines += [f"lease {keys.ports} ports"] if keys.ports else []
    lines += [f"check with {keys.check}"] if keys.check else []
    lines += [f"run on removal {command}" for command in keys.teardown]
    return lines


def free_range(
    taken: Iterable[tuple[int, int]], count: int, first: int, is_free: Callable[[int], bool]
) -> int | None:
    """The lowest port from `first` on that begins `count` free ones outside the `taken` (first, count) ranges."""
    start = first
    for begin, length in (*sorted(taken), (LAST_PORT + 1, 0)):
        for candidate in _starts(start, min(begin, LAST_PORT + 1), count, is_free):
            return candidate
        start = max(start, begin + length)
    return None


def _starts(start: int, end: int, count: int, is_free: Callable[[int], bool]) -> Iterator[int]:
    """Where `count` free ports in a row begin, between `start` and before `end`."""
    while start + count <= end:
        busy = next((port for port in range(start + count - 1, start - 1, -1) if not is_free(port)), None)
        if busy is None:
            yield start
            start += 1
        else:
            start = busy + 1
