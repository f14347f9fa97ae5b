"""Installs the pinned agents from npm: `python -m tests.agents.install [NAME...]` prints their programs.

They go into `FAN_AGENT_CACHE`, by default `~/.cache/fan-agents`, each version into a folder of its own; what is there
already is left alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from tests.agents.table import AGENTS, Agent


def cache() -> Path:
    """Where the agents are kept."""
    given = os.environ.get("FAN_AGENT_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "fan-agents"


def installed(agent: Agent) -> Path | None:
    """The program of `agent`, None when this version of it is not installed."""
    program = _folder(agent) / "node_modules" / ".bin" / agent.program
    return program if program.exists() else None


def install(agent: Agent) -> Path:
    """The program of `agent`, installed if need be."""
    cache().mkdir(parents=True, exist_ok=True)
    with FileLock(cache() / f"{agent.program}.lock"):
        found = installed(agent)
        if found is None:
            _npm_install(agent)
            found = installed(agent)
    if found is None:
        raise SystemExit(f"npm installed {agent.package}@{agent.version}, but not its program {agent.program}")
    return found


def _folder(agent: Agent) -> Path:
    return cache() / f"{agent.program}-{agent.version}"


def _npm_install(agent: Agent) -> None:
    """Install beside the final place and move it there when it is whole."""
    with tempfile.TemporaryDirectory(dir=cache(), prefix=f"{agent.program}-") as name:
        fresh = Path(name) / "prefix"
        fresh.mkdir()
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(fresh)]
        # What npm says goes to standard error: standard output is for the paths.
        subprocess.run([*npm, f"{agent.package}@{agent.version}"], stdout=sys.stderr, check=True, timeout=600)
        shutil.rmtree(_folder(agent), ignore_errors=True)
        fresh.rename(_folder(agent))


def main() -> None:
    """Install the agents named, or all."""
    for name in sys.argv[1:] or AGENTS:
        if name not in AGENTS:
            raise SystemExit(f"there is no agent `{name}` in tests/agents/table.py: {', '.join(AGENTS)}")
        print(install(AGENTS[name]))


if __name__ == "__main__":
    main()
