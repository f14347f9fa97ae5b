"""Where the demo keeps what it remembers: sessions and trusted folders."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path


def folder(environ: Mapping[str, str]) -> Path:
    """`FAN_DEMO_HOME`, else a folder of the user's state."""
    if given := environ.get("FAN_DEMO_HOME"):
        return Path(given)
    state = environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "fan-demo"


def trusts(home: Path, place: Path) -> bool:
    """Whether the person has said so before."""
    return str(place) in _trusted(home)


def trust(home: Path, place: Path) -> None:
    """Remembers it, whole-file and under a lock: several of us may be asked at once."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (home / "trusted.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fresh = home / "trusted.json.new"
        fresh.write_text(json.dumps({**_trusted(home), str(place): True}, indent=1))
        fresh.replace(home / "trusted.json")


def _trusted(home: Path) -> dict[str, bool]:
    path = home / "trusted.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}
