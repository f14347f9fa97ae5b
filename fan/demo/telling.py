"""What the demo does where its prompt says how to report back: one message to the person."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

LINE = ("mail", "send", "human")
SECONDS = 30


def is_asked(prompt: str) -> bool:
    """Whether the prompt names the command line."""
    return " ".join(("fan", *LINE)) in prompt


def tell(environ: Mapping[str, str], words: str) -> str:
    """Send it; says in words what came of it."""
    program = environ.get("FAN_BIN") or "fan"
    done = subprocess.run(
        [program, *LINE, "--", words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        return f"I could not tell the person: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}"
    return "I have told the person."
