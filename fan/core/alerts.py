"""What only the person can bring on: alerts to open in their inbox, and those that are over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from fan.core.mail import Message, MessageKind
from fan.core.model import Change, Delivery, Kind, Member, Purpose, State
from fan.core.secrets import quoted
from fan.core.standing import is_stuck

STANDS = 1.0
"""Seconds that something has to stand before the person is called: agents open and close questions by themselves."""
LONGEST_WORDS = 200
NOT_SENT = "not_sent"
ASKS: dict[str, str] = {
    Kind.TRUST: "asks for trust",
    Kind.LOGIN: "asks for a login",
    Kind.PERMISSION: "asks for permission",
    Kind.CHOICE: "asks for a choice",
    Kind.QUESTION: "asks a question",
}


class Standing(Struct, frozen=True):
    """How a member stands: its name, its state as last noted, and its last prompt."""

    member: Member
    name: str
    change: Change | None
    last: Delivery | None


class Alert(Struct, frozen=True):
    """One thing that waits for the person, since when. There is one open message a member and `reason`."""

    member: str
    reason: str
    what: str
    words: str
    next: str
    since: float

    @property
    def text(self) -> str:
        """The message: what it is, in the agent's own words, and the next command."""
        said = f": {self.words}" if self.words else ""
        return f"{self.what}{said}; {self.next}"

    @property
    def mark(self) -> str:
        """What its message is known by."""
        return f"{self.member}:{self.reason}"

    @property
    def key(self) -> str:
        """The same occasion, the same message: a courier that was killed in between does not open it twice."""
        return f"{self.mark}@{self.since:.3f}"


class Verdict(Struct, frozen=True):
    """Alerts to open, ids of messages to close, and when to judge again though nothing is written (None: not)."""

    to_open: tuple[Alert, ...] = ()
    to_close: tuple[str, ...] = ()
    again: float | None = None


def judge(standings: Iterable[Standing], shown: Sequence[Message], now: float) -> Verdict:
    """Compare what stands with the alerts that are `shown`, which are the open ones."""
    raised = {alert.mark: alert for one in standings for alert in alerts(one)}
    marks = {_mark(message): message.id for message in shown}
    new = [alert for mark, alert in raised.items() if mark not in marks]
    young = [alert.since + STANDS for alert in new if alert.since + STANDS > now]
    return Verdict(
        tuple(alert for alert in new if alert.since + STANDS <= now),
        tuple(message_id for mark, message_id in marks.items() if mark not in raised),
        min(young, default=None),
    )


def alerts(one: Standing) -> list[Alert]:
    """What of a member waits for the person: a question that it has, a prompt that did not get through."""
    found, id_ = [], one.member.id
    state = one.change.state if one.change else State.UNKNOWN
    if one.change and state is State.NEEDS_INPUT:
        what = f"{one.name} {ASKS.get(one.change.kind, 'asks for something')}"
        words, since = _bounded(one.change.detail), one.change.since
        found.append(Alert(id_, one.change.kind or state, what, words, f"fan attach {id_}", since))
    if one.last and is_stuck(one.last.status, state) and one.last.purpose is Purpose.PROMPT:
        what = f"{one.name} did not get its prompt"
        then = f"fan resume {id_}" if state is State.EXITED else f"fan send --retry {id_}"
        # While its agent worked it was over: stuck again, it is another occasion.
        since = max(one.last.done_at or one.last.created_at, one.change.since if one.change else 0.0)
        found.append(Alert(id_, NOT_SENT, what, _bounded(one.last.note), then, since))
    return found


def orphaned(
    questions: Iterable[Message], members: Iterable[Member], changes: Mapping[str, Change]
) -> tuple[str, ...]:
    """The ids of those whose asker is not there any more: removed, gone on with another conversation, or exited."""
    there = {one.address: changes.get(one.id) for one in members}
    return tuple(one.id for one in questions if one.sender not in there or _has_left(one, there[one.sender]))


def counted(items: Iterable[Message]) -> str:
    """What of these is no alert: `1 question and 2 messages wait for you`; empty: nothing."""
    kinds = [one.kind for one in items if one.kind is not MessageKind.ALERT]
    questions = kinds.count(MessageKind.QUESTION)
    parts = [
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((questions, "question"), (len(kinds) - questions, "message"))
        if count
    ]
    return f"{' and '.join(parts)} wait{'s' if len(kinds) == 1 else ''} for you" if parts else ""


def _has_left(question: Message, change: Change | None) -> bool:
    """Whether its agent has exited since it asked; an earlier exit was that of another start."""
    return change is not None and change.state is State.EXITED and change.since >= question.at


def _mark(message: Message) -> str:
    return message.key.rpartition("@")[0]


def _bounded(text: str) -> str:
    """An agent's words on one line; masked before they are cut."""
    words = quoted(text)
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"
