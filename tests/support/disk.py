"""A disk without room."""

from __future__ import annotations

from pathlib import Path


def fill(disk: Path) -> Path:
    """Take all that is left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        size = 65536
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2
    return ballast
