"""An ask on record: its question and its answer as messages that are read at once and wake nobody."""

from __future__ import annotations

from fan.core.asks import answer, for_record
from fan.core.mail import Message, MessageKind
from fan.verbs.mail import author, name_of
from fan.verbs.target import Known
from fan.world import bells
from fan.world.ids import new_id
from fan.world.world import World


def record_question(world: World, one: Known, text: str, message_id: str) -> Message:
    """The question in the asked member's room, under the ask's own id; the message."""
    caller, now = world.caller, world.clock.now()
    return _put(
        world,
        Message(
            seq=0,
            id=message_id,
            room=one.group.id,
            inbox=one.member.address,
            recipient=name_of(one),
            sender=caller.address,
            author=author(world, caller),
            verified=caller.verified.value,
            thread="",
            body=for_record(text),
            at=now,
            kind=MessageKind.ASK,
            about=one.member.id,
            read_at=now,
        ),
    )


def record_answer(world: World, question: Message, text: str) -> Message:
    """The answer in the question's thread; the message."""
    return _put(world, answer(question, text, new_id(), world.clock.now()))


def _put(world: World, message: Message) -> Message:
    (stored,) = world.store.post([message], charge=False)
    bells.ring(world.paths.runtime, ())
    return stored.message
