"""Reads what a repository asks for in each worktree: `fan.toml`, or `[tool.fan]`, and `.worktreeinclude`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec

from fan.core import patterns
from fan.core.complaint import complaint
from fan.core.setup import FILE, INCLUDE, Keys, Setup
from fan.errors import BadSetting
from fan.world.files import write_private
from fan.world.git import Repository

PROJECT = "pyproject.toml"
NOT_DONE = "nothing was made"
LARGEST = 1024 * 1024


def of_repository(repo: Repository, base_oid: str = "HEAD") -> Setup | None:
    """The setup of the place we stand in; in a bare hub that of the commit. Raises BadSetting."""
    top = repo.top
    if top is not None:
        return found(lambda name: _text(top / name))
    return found(lambda name: repo.text_at(base_oid, name))


def found(read: Callable[[str], str | None]) -> Setup | None:
    """The setup that lies in the files which `read` gives by name; None where there is nothing to do."""
    keys, source = _keys(read)
    include = _include(read(INCLUDE))
    if include:
        source = f"{source} and {INCLUDE}" if source else INCLUDE
    return Setup(keys, include, source) if keys != Keys() or include else None


def save(file: Path, setup: Setup) -> None:
    """Keep it for `load`. Raises DiskFailed."""
    write_private(file, msgspec.json.encode(setup).decode())


def load(file: Path) -> Setup | None:
    """A setup as it was saved; None where none was. Raises BadSetting."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Setup)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise BadSetting(f"{file} cannot be read: {complaint(error)}") from error


def _keys(read: Callable[[str], str | None]) -> tuple[Keys, str]:
    """The keys and the name of their file, empty where there is none; `fan.toml` goes before `[tool.fan]`."""
    text = read(FILE)
    if text is not None:
        return _checked(_parsed(text, FILE), FILE), FILE
    project = read(PROJECT)
    if project is None or "fan" not in project:
        return Keys(), ""
    tools = _parsed(project, PROJECT).get("tool")
    own = tools.get("fan") if isinstance(tools, dict) else None
    where = f"[tool.fan] in {PROJECT}"
    return (Keys(), "") if own is None else (_checked(own, where), where)


def _include(text: str | None) -> tuple[str, ...]:
    """The lines of `.worktreeinclude` that say something."""
    lines = tuple(line for line in (text or "").splitlines() if line.strip() and not line.startswith("#"))
    try:
        patterns.parse(lines)
    except ValueError as error:
        raise BadSetting(f"{INCLUDE}: {error}", not_done=NOT_DONE) from error
    return lines


def _parsed(text: str, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(f"{name} cannot be read: {error}", not_done=NOT_DONE) from error


def _checked(value: object, where: str) -> Keys:
    try:
        return msgspec.convert(value, Keys)
    except msgspec.ValidationError as error:
        keys = ", ".join(Keys.__struct_fields__)
        raise BadSetting(f"{where}: {complaint(error)}; the keys are {keys}", not_done=NOT_DONE) from error


def _text(file: Path) -> str | None:
    """The text of a file of the repository's; None where there is none."""
    try:
        if not file.is_file():
            return None
        if file.stat().st_size > LARGEST:
            raise BadSetting(f"{file} is larger than 1 MiB", not_done=NOT_DONE)
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} cannot be read: {complaint(error)}", not_done=NOT_DONE) from error
