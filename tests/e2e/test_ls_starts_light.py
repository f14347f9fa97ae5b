"""What `fan ls` does not load: each of these costs its start more than a member in the list does."""

from __future__ import annotations

import subprocess
import sys

from tests.support.cli import ROOT

HEAVY = {
    *("ast", "dataclasses", "difflib", "filelock", "git", "hashlib", "inspect", "json", "libtmux", "logging"),
    *("platformdirs", "psutil", "random", "rich", "shutil", "tempfile", "tenacity", "typer", "typing_extensions"),
}
WAY = """
import sys
from pathlib import Path
from fan.__main__ import load_msgspec
load_msgspec()
import fan.cli.listing, fan.render.rows, fan.verbs.listing, fan.world.store.records
from fan.world.world import open_world
folders = {f"FAN_{name}_DIR": "/nowhere" for name in ("STATE", "WORKTREE", "CONFIG", "RUNTIME")}
world = open_world(folders, Path("/"))
world.catalogue.recipe("demo"), world.git, world.tmux
print(*sys.modules)
"""


def test_the_way_of_ls_loads_nothing_heavy() -> None:
    """Fails if one module on it imports, say, `dataclasses` at its top."""
    done = subprocess.run([sys.executable, "-c", WAY], capture_output=True, cwd=ROOT, check=True, text=True)
    assert not HEAVY.intersection(done.stdout.split())
