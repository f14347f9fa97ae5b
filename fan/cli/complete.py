"""What the shell may offer. Read only when it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fan.verbs.completion import What


def agents(incomplete: str) -> list[str]:
    """Agents and their options; after a comma, the next one."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _ask("agents")]


def archives() -> list[str]:
    """Archives of this repository by id."""
    return _ask("archives")


def groups() -> list[str]:
    """Groups by name."""
    return _ask("groups")


def members() -> list[str]:
    """Members by branch."""
    return _ask("members")


def _ask(what: What) -> list[str]:
    from fan.cli.common import world
    from fan.errors import FanError
    from fan.verbs import completion

    try:
        return completion.names(world(), what)
    except FanError:
        return []  # a shell that completes has no place for an error; the verb itself will tell
