"""`fan demo`: the main job in a scratch repository, with agents that need no account."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fan.errors import FanError, NotFound
from fan.verbs.plan import StartRequest
from fan.verbs.progress import Listener
from fan.verbs.remove import RemoveRequest, remove
from fan.verbs.start import Started, start
from fan.verbs.target import known
from fan.world.files import delete
from fan.world.git.scratch import scratch_repository
from fan.world.world import World

PROMPT = "Add a retry with backoff to the HTTP client."
AGENTS = ("demo", "demo", "demo:trust")
FILES = {
    "README.md": "# scratch\n\nA repository to try `fan` in. `fan demo --clean` takes it away.\n",
    "client.py": "import urllib.request\n\n\n"
    "def get(url: str) -> bytes:\n"
    "    with urllib.request.urlopen(url) as reply:\n"
    "        return reply.read()\n",
}


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What was started, where, and what to type next."""

    folder: str
    started: Started
    next: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 when the demonstration shows what it should: two prompts taken, one waiting for the person."""
        return 0 if self.started.exit_code in (0, 3) else self.started.exit_code


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The folder that is gone and how many members went with it."""

    folder: str
    members: int


def demo(world: World, listener: Listener) -> Demonstration:
    """Make a scratch repository (or use the one of last time) and fan out in it."""
    folder = _folder(world)
    listener.say(f"a scratch repository: {folder}")
    scratch_repository(world.environ, folder, FILES)
    inside = World(world.environ, folder, world.clock, world.paths)
    started = start(inside, StartRequest(agents=AGENTS, prompt=PROMPT, count=len(AGENTS)), listener)
    first = started.members[0].branch
    waiting = started.waiting[0] if started.waiting else started.members[-1].session
    return Demonstration(
        str(folder),
        started,
        (
            f"cd {folder}",
            f"fan attach {waiting}   # answer its question; leave with the key shown at the bottom",
            "fan ls   # its prompt is then sent",
            f"fan keep {first}   # the winner stays, the others go",
            "fan undo   # and come back",
            "fan demo --clean   # takes all of it away",
        ),
    )


def clean(world: World) -> Cleaned:
    """Take the demonstration away: members, sessions, scratch repository."""
    folder = _folder(world)
    if not folder.is_dir():
        raise NotFound("there is no demonstration to clean up", not_done="nothing was removed", hint="fan demo")
    inside = World(world.environ, folder, world.clock, world.paths)
    members = [one for one in known(inside) if one.group.repo == folder]
    for group in {one.group.id for one in members}:
        done = remove(inside, RemoveRequest(group=group, discard=True))
        if done.left:
            raise FanError(
                f"{done.left[0].session} could not be removed: {done.left[0].reason}", hint="fan demo --clean"
            )
    delete(folder)
    return Cleaned(str(folder), len(members))


def _folder(world: World) -> Path:
    return world.paths.state.resolve() / "demo" / "scratch"
