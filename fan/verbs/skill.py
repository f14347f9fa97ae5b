"""`fan skill`: what an agent needs to know to use all this, by topic."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

import fan
from fan.errors import NotFound

FOLDER = Path(fan.__file__).parent / "skill"
INDEX = "index"


class Skill(Struct, frozen=True):
    """One page, in Markdown."""

    topic: str
    text: str


def topics() -> list[str]:
    """The pages that there are besides the index."""
    return sorted(file.stem for file in FOLDER.glob("*.md") if file.stem != INDEX)


def skill(topic: str = INDEX) -> Skill:
    """The page of a topic. Raises NotFound, naming the topics."""
    found = topics()
    if topic not in (INDEX, *found):
        near = get_close_matches(topic, found, n=1)
        raise NotFound(
            f"there is no topic `{topic}`: {', '.join(found)}",
            not_done="nothing was shown",
            hint=f"fan skill {near[0]}" if near else "fan skill",
        )
    return Skill(topic, (FOLDER / f"{topic}.md").read_text(encoding="utf-8"))
