"""Files beside git's own, trees copied too: a crash leaves old or new."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from fan.errors import DiskFailed
from fan.world.files import delete


def copy_tree(source: Path, target: Path, part: Path) -> None:
    """Copies a tree byte for byte with modes, times and links, by way of `part`, which is then renamed.

    Objects of git (in a submodule's folder) never change and are linked where the disk allows it.
    """

    def copy(one: str, other: str) -> str:
        if "objects" in Path(one).relative_to(source).parts:
            try:
                os.link(one, other)
            except OSError:
                return str(shutil.copy2(one, other))
            return other
        return str(shutil.copy2(one, other, follow_symlinks=False))

    delete(part)
    try:
        shutil.copytree(source, part, symlinks=True, copy_function=copy)
        part.rename(target)
    except (OSError, shutil.Error) as error:
        raise DiskFailed(f"cannot copy {source} to {target}: {error}") from error


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Replaces `file` as a whole, durably."""
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("w", encoding="utf-8") as sink:
            json.dump(value, sink, indent=1)
            sink.flush()
            os.fsync(sink.fileno())
        part.replace(file)
    except OSError as error:
        raise DiskFailed(f"cannot write {file}: {error.strerror}") from error
