"""Disks of a test's own, and disks without room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str, option: str = "rw") -> Iterator[Path]:
    """A disk of this size, as `mount` reads it, that only its owner enters; skips where none can be mounted."""
    if os.geteuid():
        pytest.skip("only root may mount a small disk")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700,{option}", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


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
