"""`fan mail ask-human`: a question to the person, and their answer. No answer is never a yes."""

from __future__ import annotations

from dataclasses import dataclass

from fan.core import questions
from fan.core.caller import Who
from fan.core.defaults import ASK_HUMAN_SECONDS
from fan.core.mail import HUMAN, Message, MessageKind
from fan.errors import NotAllowed, TimedOut, Undeliverable, UsageError
from fan.verbs.mail import author, first_answer, post
from fan.world import bells
from fan.world.ids import new_id
from fan.world.world import World

LONGEST = 3600.0
LOOK_AGAIN = 30.0
"""Seconds after which the record is looked at although nobody has rung."""


@dataclass(frozen=True, slots=True)
class AskHumanRequest:
    """A question, the answers offered, and how many seconds to wait."""

    text: str
    options: tuple[str, ...] = ()
    timeout: float = ASK_HUMAN_SECONDS


@dataclass(frozen=True, slots=True)
class HumanAnswer:
    """What the person said. `option` counts from 1; None: words of their own. `untrusted`: it may be anybody's."""

    question: str
    id: str
    text: str
    option: int | None
    author: str
    verified: str
    untrusted: bool


def ask_human(world: World, request: AskHumanRequest) -> HumanAnswer:
    """Put a question into the person's inbox and wait for the answer; the caller marks it read once it is shown.

    Raises NotAllowed, Undeliverable, UsageError, TooLarge, Empty, RateLimited: nothing was asked. Raises TimedOut:
    the question stays, and a late answer comes to the caller's inbox.
    """
    _check(world, request)
    with bells.Bells(world.paths.runtime, [bells.of_inbox(world.caller.address)]) as waiter:
        question = put(world, request)
        while True:
            # The time first: what is stored before it is over is looked for after it.
            left = (question.until or 0.0) - world.clock.now()
            answer = answered(world, question)
            if answer:
                return answer
            if left <= 0:
                raise _timed_out(question, request.timeout)
            waiter.wait(min(left, LOOK_AGAIN))


def put(world: World, request: AskHumanRequest) -> Message:
    """Store the question."""
    caller, now = world.caller, world.clock.now()
    asked = Message(
        seq=0,
        id=new_id(),
        room=HUMAN,
        inbox=HUMAN,
        recipient=HUMAN,
        sender=caller.address,
        author=author(world, caller),
        verified=caller.verified.value,
        thread="",
        body=request.text,
        at=now,
        kind=MessageKind.QUESTION,
        about=caller.member.id if caller.member else "",
        options=questions.checked(request.options),
        until=now + request.timeout,
    )
    return post(world, [asked])[0].message


def answered(world: World, question: Message) -> HumanAnswer | None:
    """The person's first answer, if there is one."""
    answer = first_answer(world, question)
    if answer is None:
        return None
    chosen = question.options.index(answer.body) + 1 if answer.body in question.options else None
    is_person = answer.sender == HUMAN and answer.verified == "process"
    return HumanAnswer(
        question.id, answer.id, answer.body, chosen, answer.author, answer.verified, untrusted=not is_person
    )


def _check(world: World, request: AskHumanRequest) -> None:
    if world.caller.who is Who.HUMAN:
        raise NotAllowed(
            "you are the person who would be asked", not_done=questions.NOT_DONE, hint="fan mail read human"
        )
    if world.caller.member is None:
        raise Undeliverable(
            "only an agent in a session of fan's has an inbox that an answer could come to",
            not_done=questions.NOT_DONE,
            hint="fan mail send human 'text'",
        )
    if not 1 <= request.timeout <= LONGEST:
        raise UsageError(f"--timeout takes 1 to {LONGEST:.0f} seconds", not_done=questions.NOT_DONE)


def _timed_out(question: Message, seconds: float) -> TimedOut:
    return TimedOut(
        f"the person has not answered question {question.id} within {seconds:g} s",
        not_done="nothing was agreed to: a time-out is never a yes; a late answer comes to your inbox",
        hint="fan mail read --unread",
    )
