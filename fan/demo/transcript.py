"""The talk as JSON lines: `{"type", "id", "text", "at"}`, types user, assistant and turn_end.

What a model would have read and written is told as `tokens`: `{"input", "output"}`, a token a word.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path


class Transcript:
    """One session's file; every line is written whole before the call returns."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = path

    def add(self, kind: str, turn: str, text: str, *, tokens: Mapping[str, int] | None = None) -> None:
        """Appends one item of a turn."""
        item = {"type": kind, "id": turn, "text": text, "at": time.time()} | ({"tokens": tokens} if tokens else {})
        line = json.dumps(item, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def items(self) -> Iterator[tuple[str, str]]:
        """The types and texts so far, oldest first."""
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                item = json.loads(line)
                yield item["type"], item["text"]
