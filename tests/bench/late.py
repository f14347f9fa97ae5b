#!/usr/bin/env python3
"""An agent for benchmarks: rests, takes a prompt, works for a random while, rests again.

Writes a line for each prompt to `$LATE_DIR/$FAN_MEMBER`: when it had come to rest, and when the first key came.
"""

from __future__ import annotations

import os
import random
import select
import sys
import time
import tty
from pathlib import Path


def show(draft: str, footer: str) -> None:
    """Paint the whole screen, the cursor in the composer."""
    text = f"\x1b[H\x1b[Jwhat it said\r\n\r\n> {draft}\r\n\r\n{footer}\x1b[2A\x1b[{len(draft) + 3}G"
    os.write(1, text.encode())


def main() -> None:
    """Run until the terminal is gone."""
    log = Path(os.environ["LATE_DIR"]) / os.environ["FAN_MEMBER"]
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    while True:
        show("", "ready")
        rested = time.time()
        draft = os.read(0, 65536).replace(b"\x1b[200~", b"").replace(b"\x1b[201~", b"")
        if not draft:
            sys.exit()
        with log.open("a") as lines:
            lines.write(f"{rested} {time.time()}\n")
        while b"\r" not in draft:
            show(draft.decode(), "ready")
            draft += os.read(0, 65536).replace(b"\x1b[201~", b"")
        show("", "busy")
        until = time.monotonic() + random.uniform(1.0, 2.5)
        while (left := until - time.monotonic()) > 0:
            if select.select([0], [], [], left)[0] and not os.read(0, 65536):
                sys.exit()


if __name__ == "__main__":
    main()
