"""Results as JSON: dataclasses by their field names, paths as text."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from pathlib import Path


def as_json(value: object) -> str:
    """One JSON value and a newline, in ASCII, so that it is whole in every locale."""
    return json.dumps(plain(value), default=_other) + "\n"


def plain(value: object) -> object:
    """`value` with dataclasses made dicts, at any depth of lists and dicts."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _other(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"no JSON for {type(value).__name__}")
