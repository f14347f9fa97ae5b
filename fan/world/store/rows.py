"""Values of fan.core.model to rows and back, by their field types."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from msgspec import json

T = TypeVar("T")


def insert(db: sqlite3.Connection, table: str, value: object, *, without: str = "") -> int:
    """Insert a record; the column `without` is left to the database. The new row's number."""
    kind: Any = type(value)
    names = [name for name in _columns(kind) if name != without]
    quoted = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" * len(names))
    sql = f"INSERT INTO {table} ({quoted}) VALUES ({marks})"  # noqa: S608 - names of ours
    return db.execute(sql, [_encode(getattr(value, name)) for name in names]).lastrowid or 0


def update(db: sqlite3.Connection, table: str, key: str, value: object) -> None:
    """Write every column of a record that is there already."""
    kind: Any = type(value)
    names = _columns(kind)
    sets = ", ".join(f'"{name}" = ?' for name in names)
    items = [_encode(getattr(value, name)) for name in names]
    db.execute(f"UPDATE {table} SET {sets} WHERE {key} = ?", [*items, getattr(value, key)])  # noqa: S608


def select(
    db: sqlite3.Connection, cls: type[T], table: str, where: str = "1", values: tuple[Any, ...] = ()
) -> list[T]:
    """The records that fit `where`, which may end in ORDER BY and LIMIT."""
    kind: Any = cls
    quoted = ", ".join(f'"{name}"' for name in _columns(kind))
    rows = db.execute(f"SELECT {quoted} FROM {table} WHERE {where}", values)  # noqa: S608
    converters = _converters(kind)
    return [cls(*(convert(item) for convert, item in zip(converters, row, strict=True))) for row in rows]


@cache
def _columns(cls: Any) -> tuple[str, ...]:
    return tuple(cls.__struct_fields__)


@cache
def _converters(cls: Any) -> tuple[Callable[[Any], Any], ...]:
    hints = get_type_hints(cls)
    return tuple(_converter(hints[name]) for name in _columns(cls))


def _converter(hint: Any) -> Callable[[Any], Any]:
    """How a column of this type becomes a value; plain numbers and texts are one already, a tuple is kept as JSON."""
    if get_origin(hint) is tuple:
        return partial(json.decode, type=hint)
    if isinstance(hint, type) and (issubclass(hint, Path) or hint is bool or hasattr(hint, "__members__")):
        return hint
    return _same


def _encode(item: Any) -> Any:
    if isinstance(item, tuple):
        return json.encode(item).decode()
    return str(item) if isinstance(item, Path) else item


def _same(item: Any) -> Any:
    return item
