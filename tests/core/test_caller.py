"""Who calls, and what they may do."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from fan.core.caller import FOR_NO_MEMBER, Above, Act, Caller, Verified, Who, identify, require
from fan.core.model import Member, Step
from fan.errors import NotAllowed

A = Member(
    "aaaaaaaa", "g", 1, "b", Path("/w"), "s", "puppet", "", "", Step.READY, launch="la", pid=100, pid_started=5.0
)
B = replace(A, id="bbbbbbbb", launch="lb", pid=200)
SHELL, AGENT_A = Above(90, 6.0, "bash"), Above(100, 5.0, "node")


def found(*above: Above, launch: str = "", terminal: bool = False) -> Caller:
    return identify(above, [A, B], launch, {"puppet", "other"}, terminal=terminal)


def test_a_member_is_known_by_its_process_whatever_its_variables_say() -> None:
    """The pane's process among the ancestors decides, also when the launch variable names another member or none."""
    for launch in ("la", "lb", "", "x"):
        assert found(SHELL, AGENT_A, launch=launch) == Caller(Who.MEMBER, Verified.PROCESS, A, "puppet")


def test_the_variable_alone_is_a_claim() -> None:
    """Without the process it is that member, unverified; red when the variable counts as a proof."""
    assert found(SHELL, launch="lb") == Caller(Who.MEMBER, Verified.NONE, B, "puppet")


def test_a_number_that_two_members_had_is_the_living_ones() -> None:
    """The record keeps the pane of an agent that has ended; red when only the last one of a number is looked at."""
    assert identify([AGENT_A], [A, replace(B, pid=100)], "", (), terminal=False).member == A


def test_a_later_process_of_the_same_number_is_nobody() -> None:
    """A process id is given away again: the start time must fit too."""
    assert found(Above(100, 99.0, "bash"), terminal=True).who is Who.HUMAN


@pytest.mark.parametrize(
    "process",
    [
        Above(7, 1.0, "MainThread", ("/opt/bin/other", "x")),
        Above(7, 1.0, "node", ("node", "/opt/lib/other")),
        Above(7, 1.0, "Python", ("/usr/bin/Python3.11", "./other")),
        Above(7, 1.0, "bash", ("sh", "/opt/bin/other")),
        Above(7, 1.0, "other", ("/bin/sh", "-e")),
        Above(7, 1.0, "node", ("other",)),
    ],
)
def test_another_agent_is_known_by_its_program(process: Above) -> None:
    """By the program's name, or by the script that an interpreter runs."""
    assert found(SHELL, process, terminal=True) == Caller(Who.AGENT, Verified.PROCESS, agent="other")


@pytest.mark.parametrize(
    "words",
    [
        ("make", "other"),
        ("bash", "other"),
        ("vi", "other"),
        ("vi", "/opt/bin/other"),
        ("ssh", "other"),
        ("less", "./other"),
        ("bash", "-c", "cd /opt/other"),
        ("node", "/opt/other/cli.js"),
        (),
    ],
)
def test_what_somebody_works_on_makes_nobody_an_agent(words: tuple[str, ...]) -> None:
    """A Makefile's target, a file in an editor, a host: the person who types it stays the person.

    Red when the second word of any command line counts.
    """
    process = Above(7, 1.0, words[0] if words else "x", words)
    assert found(SHELL, process, terminal=True) == Caller(Who.HUMAN, Verified.PROCESS)


def test_without_an_agent_it_is_a_person_or_a_script() -> None:
    """A terminal makes the difference."""
    assert found(SHELL, terminal=True) == Caller(Who.HUMAN, Verified.PROCESS)
    assert found(SHELL) == Caller(Who.SCRIPT, Verified.NONE)
    assert found(SHELL, launch="nobody's", terminal=True).who is Who.AGENT


@pytest.mark.parametrize("act", list(Act))
def test_what_each_may_do(act: Act) -> None:
    """Members nothing of the list; other agents what makes and keeps; person and script all; a setting opens one."""
    member, agent = Caller(Who.MEMBER, Verified.NONE, A), Caller(Who.AGENT, Verified.PROCESS)
    require(Caller(Who.HUMAN, Verified.PROCESS), act, ())
    require(Caller(Who.SCRIPT, Verified.NONE), act, ())
    with pytest.raises(NotAllowed, match=act.value):
        require(member, act, ())
    if act in FOR_NO_MEMBER:
        require(agent, act, ())
    else:
        with pytest.raises(NotAllowed):
            require(agent, act, ())
    require(member, act, (act.value,))


def test_who_is_an_agent_by_a_variable_alone_is_told_how_a_person_gets_out() -> None:
    """A person in a pane of an agent's session has its variables: refused like the agent, with the way out.

    Red when a claim is refused in the words for a proven one.
    """
    for caller in (found(SHELL, launch="lb", terminal=True), found(SHELL, launch="x", terminal=True)):
        assert caller.is_claim
        with pytest.raises(NotAllowed, match="FAN_LAUNCH") as refused:
            require(caller, Act.KEEP, ())
        assert "outside of fan's sessions" in refused.value.message
    assert not any(found(*above, terminal=True).is_claim for above in ((AGENT_A,), (SHELL,)))
    assert not found(SHELL).is_claim


@pytest.mark.parametrize("act", sorted(FOR_NO_MEMBER))
def test_a_session_of_fans_on_another_record_is_no_persons_agent(act: Act) -> None:
    """Whoever moves to another state folder is still no member that may fan out; red when it counts as an agent that
    the person drives in a terminal of their own."""
    for caller in (found(launch="x"), found(Above(7, 1.0, "other"), launch="x")):
        with pytest.raises(NotAllowed):
            require(caller, act, ())
