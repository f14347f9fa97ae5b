"""What an agent's own trust store says of a repository. Read only."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fan.core.recipe import Trust


def is_trusted(trust: Trust, root: Path, environ: Mapping[str, str]) -> bool:
    """Whether the agent will not ask about `root`, as far as its store tells; a store that cannot be read says no."""
    store = trust.store
    if store is None:
        return False
    file = Path(store.file.replace("~", environ.get("HOME", "~"), 1))
    try:
        text = file.read_text(encoding="utf-8")
        found: Any = json.loads(text) if store.format == "json" else tomllib.loads(text)
    except (OSError, ValueError):
        return False
    for key in store.keys:
        found = found.get(key.replace("{root}", str(root))) if isinstance(found, dict) else None
    return bool(found == store.value)
