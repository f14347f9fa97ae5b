"""What is wrong with a file, in the words of whoever writes it."""

from __future__ import annotations

import re

KINDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "a table",
    "str": "text",
}


def complaint(error: Exception) -> str:
    """What a check of a file's values has found, by key; what the system says of a file, without its number."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    reason, _, place = str(error).partition(" - at `$")
    key = place.rstrip("`").removeprefix(".")
    return f"`{key}`: {_plain(reason)}" if key else _plain(reason)


def _plain(reason: str) -> str:
    if found := re.fullmatch(r"Expected `([^`]+)`, got `([^`]+)`", reason):
        return f"it must be {_kind(found[1])}, not {_kind(found[2])}"
    if found := re.fullmatch(r"Object contains unknown field `([^`]+)`", reason):
        return f"there is no key `{found[1]}`"
    if found := re.fullmatch(r"Object missing required field `([^`]+)`", reason):
        return f"the key `{found[1]}` is missing"
    if found := re.fullmatch(r"Invalid enum value '([^']*)'", reason):
        return f"{found[1]!r} is none of the words it may be"
    return reason.replace("Expected", "it must be", 1)


def _kind(name: str) -> str:
    return " or ".join(KINDS.get(one, one) for one in name.split(" | "))
