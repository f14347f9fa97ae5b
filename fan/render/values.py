"""Results as JSON: records by their field names, paths as text."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path

from msgspec import Struct, structs


def as_json(value: object) -> str:
    """One JSON value and a newline, in ASCII, so that it is whole in every locale."""
    return json.dumps(plain(value), default=_other) + "\n"


def plain(value: object) -> object:
    """`value` with records made dicts, at any depth of lists and dicts."""
    if isinstance(value, Struct):
        return plain(structs.asdict(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _other(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"no JSON for {type(value).__name__}")
