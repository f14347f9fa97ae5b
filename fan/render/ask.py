"""An agent's answer between fence lines."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from fan.core.fence import fenced
from fan.core.plain import one_line
from fan.core.secrets import masked

if TYPE_CHECKING:
    from fan.verbs.ask import Answer

QUALITY = {
    "complete": "its final words, whole",
    "partial": "its words so far: its turn did not end as it should",
    "screen": "what its pane has printed",
}


def answered(found: Answer) -> str:
    """The answer, how whole it is, and where it is on record. Secrets are masked: `--json` has the bytes."""
    guess = ", a guess by its silence" if found.settled_by == "quiet" else ""
    name = one_line(found.name)
    head = f"{name}: {QUALITY[found.quality]} (settled by {found.settled_by}{guess}); asked as {found.message_id}"
    return f"{head}\n{fenced(masked(found.answer), name, secrets.token_hex(4))}"
