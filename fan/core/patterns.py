"""Patterns as in a `.gitignore`: the last one that fits decides, `!` takes back, a slash ties to the top."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from msgspec import Struct

_PARTS = r"\\(?P<escaped>.)|(?P<stars>\*+)|(?P<any>\?)|\[(?P<out>[!^])?(?P<set>\]?[^\]]+)\]|(?P<plain>.)"


class Pattern(Struct, frozen=True):
    """One line: a path fits when `regex` matches the whole of it; `words` are the names it spells out."""

    regex: str
    negated: bool
    folders_only: bool
    words: frozenset[str]


def parse(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """The patterns of `lines`; blank ones and comments are none. Raises ValueError for what cannot be one."""
    texts = (re.sub(r"(?<!\\)\s+$", "", line) for line in lines)
    return tuple(_pattern(text) for text in texts if text.strip() and not text.startswith("#"))


def fits(patterns: Iterable[Pattern], path: str, *, folder: bool) -> bool:
    """Whether `path`, from the top and with slashes, is meant. What lies below a folder that fits is not asked."""
    meant = False
    for pattern in patterns:
        if (folder or not pattern.folders_only) and re.fullmatch(pattern.regex, path, re.DOTALL):
            meant = not pattern.negated
    return meant


def covers(patterns: Collection[Pattern], path: str, *, folder: bool = False) -> bool:
    """Whether `path` is meant, or a folder that it lies in."""
    parts = path.split("/")
    above = ("/".join(parts[:length]) for length in range(1, len(parts)))
    return fits(patterns, path, folder=folder) or any(fits(patterns, one, folder=True) for one in above)


def spells_out(patterns: Iterable[Pattern], name: str) -> bool:
    """Whether one of them has `name` as a part of its path, letter for letter."""
    return any(name in pattern.words for pattern in patterns if not pattern.negated)


def _pattern(text: str) -> Pattern:
    glob = text.removeprefix("!")
    body = glob.strip("/")
    parts = body.split("/")
    if not body or ".." in parts:
        raise ValueError(f"`{text}` is no path inside the repository")
    regex = "" if "/" in glob.rstrip("/") else "(?:.*/)?"
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            regex += ".*" if last else "(?:.*/)?"
        else:
            regex += re.sub(_PARTS, _translated, part) + ("" if last else "/")
    try:
        re.compile(regex)
    except re.error as error:
        raise ValueError(f"`{text}` is no pattern: {error}") from error
    return Pattern(regex, glob != text, glob.endswith("/"), frozenset(parts))


def _translated(token: re.Match[str]) -> str:
    if token["stars"]:
        return "[^/]*"
    if token["any"]:
        return "[^/]"
    if token["set"]:
        inside = token["set"].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^/{inside}]" if token["out"] else f"[{inside}]"
    return re.escape(token["escaped"] or token["plain"])
