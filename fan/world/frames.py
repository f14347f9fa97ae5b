"""The folder of recorded screens: `AGENT/NAME.txt` or `AGENT/VERSION/NAME.txt`, each beside its `.json`."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from fan.core.frames import Frame, frame
from fan.errors import DiskFailed, NotFound

HINT = "fan recipe score --help"
NOT_DONE = "nothing was scored"


@dataclass(frozen=True, slots=True)
class Recorded:
    """The frames of the wanted agents, by file name; the agents passed over, and the screens without a label."""

    frames: list[Frame]
    skipped: list[str]
    unlabelled: list[str]


def recorded(folder: Path, agents: Collection[str]) -> Recorded:
    """What lies in `folder` of `agents`. Raises NotFound without any frame, DiskFailed."""
    screens = _screens(folder)
    skipped = sorted({agent for agent, _ in screens if agent not in agents})
    wanted = [(agent, screen) for agent, screen in screens if agent in agents]
    labelled = [(agent, screen) for agent, screen in wanted if screen.with_suffix(".json").is_file()]
    if not labelled:
        only = f", only of {', '.join(skipped)}" if skipped else ""
        raise NotFound(f"no recorded screens of a known agent are in {folder}{only}", not_done=NOT_DONE, hint=HINT)
    bare = {screen for _, screen in wanted} - {screen for _, screen in labelled}
    return Recorded(
        frames=[_frame(folder, agent, screen) for agent, screen in labelled],
        skipped=skipped,
        unlabelled=sorted(str(screen.relative_to(folder)) for screen in bare),
    )


def _screens(folder: Path) -> list[tuple[str, Path]]:
    """Every screen with its agent, in order."""
    try:
        agents = sorted(place for place in folder.iterdir() if place.is_dir())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no folder {folder}", not_done=NOT_DONE, hint=HINT) from error
    except OSError as error:
        raise _unreadable(folder, error) from error
    return [(one.name, screen) for one in agents for screen in sorted([*one.glob("*.txt"), *one.glob("*/*.txt")])]


def _frame(folder: Path, agent: str, screen: Path) -> Frame:
    """One screen with its facts."""
    name = str(screen.relative_to(folder))
    try:
        facts = json.loads(screen.with_suffix(".json").read_text(encoding="utf-8"))
        return frame(name, agent, screen.read_text(encoding="utf-8"), facts)
    except OSError as error:
        raise _unreadable(screen, error) from error
    except KeyError as error:
        raise DiskFailed(f"the .json beside {screen} has no {error}", not_done=NOT_DONE, hint=HINT) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise DiskFailed(
            f"{screen} or the .json beside it is no recorded screen: {error}", not_done=NOT_DONE, hint=HINT
        ) from error


def _unreadable(path: Path, error: OSError) -> DiskFailed:
    return DiskFailed(f"{error.filename or path} cannot be read: {error.strerror}", not_done=NOT_DONE)
