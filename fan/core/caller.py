"""Who calls: a member's agent, another agent, a person or a script; and what each may do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from fan.core.model import Member
from fan.errors import NotAllowed


class Who(StrEnum):
    """The kinds of callers."""

    MEMBER = "member"
    AGENT = "agent"
    HUMAN = "human"
    SCRIPT = "script"


class Verified(StrEnum):
    """How it is known who calls: by its process, by the folder it wrote to, or not at all."""

    PROCESS = "process"
    FOLDER = "folder"
    NONE = "none"


class Act(StrEnum):
    """What not everybody may do; the values are the words of the setting `agents_may`."""

    FAN_OUT = "fan"
    KEEP = "keep"
    REMOVE = "rm"
    DISCARD = "discard"
    UNDO = "undo"
    ARCHIVE_REMOVE = "archive-rm"
    APPROVE = "approve"
    HUMAN_NAME = "human"


INTERPRETERS = re.compile(r"-?(a|ba|da|k|mk|z|fi)?sh|node(js)?|bun|deno|(python|ruby|perl)[0-9.]*", re.IGNORECASE)
"""Programs whose first argument is the program that really runs: what an agent's script is started by."""
LAUNCH = "FAN_LAUNCH"
"""The variable of a session, and of all that is started in it, that says whose it is."""
FOR_NO_MEMBER = frozenset({Act.FAN_OUT, Act.KEEP, Act.REMOVE, Act.UNDO, Act.ARCHIVE_REMOVE})


class Above(Struct, frozen=True):
    """A process above ours: number, start time, and the words of its command line."""

    pid: int
    started: float
    name: str
    words: tuple[str, ...] = ()


class Caller(Struct, frozen=True):
    """Who calls. `member` is set for `Who.MEMBER` alone; `agent` names the agent of either kind, if it is known.

    `launched`: of an agent, that it runs in a session of `fan`'s, though it is no member on this record.
    """

    who: Who
    verified: Verified
    member: Member | None = None
    agent: str = ""
    launched: bool = False

    @property
    def is_agent(self) -> bool:
        """Whether an agent calls, one of ours or another."""
        return self.who in (Who.MEMBER, Who.AGENT)

    @property
    def is_claim(self) -> bool:
        """Whether only a variable calls it an agent: it may be the person, in a session that has its environment."""
        return self.is_agent and self.verified is Verified.NONE

    @property
    def address(self) -> str:
        """Its inbox, for those that have one; for the others the word for what they are."""
        return self.member.address if self.member else self.who.value


def identify(
    above: Sequence[Above],
    members: Iterable[Member],
    launch: str,
    agents: Collection[str],
    *,
    terminal: bool,
) -> Caller:
    """The caller, by the processes `above` it, the nearest first.

    A member is known by its pane's process; the variable `launch` alone is a claim. `agents` are the names
    of the known agents, as their programs are called. Without an agent it is a person at a `terminal`, else a script.
    """
    running = [one for one in members if one.pid]
    for process in above:
        for member in running:
            if member.pid == process.pid and abs(member.pid_started - process.started) < 1.0:
                return Caller(Who.MEMBER, Verified.PROCESS, member, member.agent)
    claimed = next((one for one in running if launch and one.launch == launch), None)
    if claimed:
        return Caller(Who.MEMBER, Verified.NONE, claimed, claimed.agent)
    for process in above:
        agent = next((name for name in _names(process) if name in agents), "")
        if agent:
            return Caller(Who.AGENT, Verified.PROCESS, agent=agent, launched=bool(launch))
    if launch:
        return Caller(Who.AGENT, Verified.NONE, launched=True)
    return Caller(Who.HUMAN, Verified.PROCESS) if terminal else Caller(Who.SCRIPT, Verified.NONE)


def require(caller: Caller, act: Act, opened: Collection[str]) -> None:
    """Raises NotAllowed when `caller` may not do this; `opened` is what the person's setting lets agents do."""
    if act.value in opened or not caller.is_agent:
        return
    if act in FOR_NO_MEMBER and caller.who is not Who.MEMBER and not caller.launched:
        return
    who = f"a member of a group, {caller.member.session}," if caller.member else "an agent"
    ask = "fan mail send human 'what you need and why'"
    if caller.is_claim:
        raise NotAllowed(
            f"{who} may not do this ({act.value}), and by its {LAUNCH} this session is one's; a person runs it in"
            " a terminal outside of fan's sessions",
            not_done="nothing was done",
            hint=ask,
        )
    raise NotAllowed(f"{who} may not do this ({act.value})", not_done="nothing was done", hint=ask)


def _names(process: Above) -> list[str]:
    """What the process is called: by itself, by its program, and by the script where its program only runs scripts.

    The second word of another program is what that one works on: a target of `make`, a file in an editor, a host.
    """
    first, second = (*process.words[:2], "", "")[:2]
    names = [process.name, _last(first)]
    return [*names, _last(second)] if "/" in second and INTERPRETERS.fullmatch(_last(first)) else names


def _last(path: str) -> str:
    return path.rpartition("/")[2]
