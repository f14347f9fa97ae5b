"""`python -m fan.cli.answerer MEMBER FILE`: started by the courier, does what a member in a sandbox has asked for.

Who asks is told by the folder the request lies in, by nothing that stands in it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NoReturn

from fan.cli.answering import ACTING, LATER
from fan.cli.app import run
from fan.cli.failing import guarded
from fan.cli.hot import report
from fan.cli.spoken import PROGRAM, spoken
from fan.core.caller import Caller, Verified, Who
from fan.core.model import Member
from fan.core.requests import LARGEST_ANSWER, Answer, Request, permitted
from fan.core.variables import OF_A_MEMBER
from fan.errors import FanError
from fan.world import requests
from fan.world.requests import Taken
from fan.world.world import World, open_world

FETCHED_WITHIN = 5.0


def main() -> int:
    """Take one request, do it, and leave the answer beside it."""
    member_id, name = sys.argv[1:]
    world = open_world(os.environ, Path("/"))
    member = next((one for one in world.store.members() if one.id == member_id), None)
    taken = requests.take(world.paths.requests(member_id), name) if member else None
    if member and taken:
        _become(world, member)
        taken.answer(_answered(taken, member))
        _conclude(world, taken)
    return 0


def _conclude(world: World, taken: Taken) -> None:
    """Once the answer was fetched: what was only written for nobody counts as unread."""
    until = world.clock.now() + FETCHED_WITHIN
    while LATER and not taken.is_fetched():
        if world.clock.now() > until:
            return
        world.clock.pause(0.05)
    for act in LATER:
        act()


def _become(world: World, member: Member) -> None:
    """Act for the member, and for nobody that the courier was started by."""
    sys.argv = [PROGRAM]
    for name in OF_A_MEMBER:
        os.environ.pop(name, None)
    os.environ |= {"FAN_MEMBER": member.id, "FAN_LAUNCH": member.launch, "FAN_PANE": member.pane}
    os.environ |= world.paths.variables
    ACTING.set(Caller(Who.MEMBER, Verified.FOLDER, member, member.agent))


def _answered(taken: Taken, member: Member) -> Answer:
    """Run what is asked for with streams of its own."""
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        for number, stream in enumerate((stdin, stdout, stderr)):
            os.dup2(stream.fileno(), number)
        code = _done(taken, member, stdin)
        if os.fstat(1).st_size + os.fstat(2).st_size > LARGEST_ANSWER:
            return Answer(1, b"", b"fan: the answer is too large\n")
        return Answer(code, _whole(stdout), _whole(stderr))


def _done(taken: Taken, member: Member, stdin: IO[bytes]) -> int:
    """Do what is asked for, or print why not; the exit code."""
    request: Request | None = None
    try:
        request = taken.read()
        words = permitted(request.words, taken.id, again=taken.again)
    except FanError as error:
        return guarded(partial(_refuse, error), spoken(request.words if request else ()))
    stdin.write(request.stdin.encode("utf-8", "replace"))
    stdin.seek(0)
    _stand(Path(request.cwd), member.path)
    if words[0] == "report":
        report(words[1:])
        return 0
    try:
        return run(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1


def _stand(asked: Path, worktree: Path) -> None:
    """Go where the member says it stands, but nowhere outside of its worktree."""
    for folder in (asked, worktree):
        with suppress(OSError, ValueError):
            if folder.resolve(strict=True).is_relative_to(worktree.resolve()):
                os.chdir(folder)
                return


def _whole(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


def _refuse(error: FanError) -> NoReturn:
    raise error


if __name__ == "__main__":
    sys.exit(main())
