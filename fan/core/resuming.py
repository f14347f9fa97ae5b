"""What a member whose agent is started again takes along: the agent's conversation, and where its prompts stand."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from fan.core import delivery as rules
from fan.core.model import Delivery, Phase, Report, State, Status, Typed, Witness
from fan.core.prompt import same_words
from fan.core.recipe import Hooks

UNPROVEN = "its agent ended before it was clear whether it took it"

# It goes on a command line: nothing that could be read as an option or a path.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")


class Talk(msgspec.Struct, frozen=True):
    """A conversation by the agent's own id; `transcript` is the file it says it keeps it in, empty if it does not."""

    id: str
    transcript: str = ""


def told(report: Report, key: str) -> str:
    """The text under `key` in what a hook was given; empty when there is none."""
    if not (key and report.payload):
        return ""
    try:
        found = msgspec.json.decode(report.payload.encode("utf-8", "surrogatepass"))
    except msgspec.DecodeError:
        return ""
    text = found.get(key) if isinstance(found, dict) else None
    return text if isinstance(text, str) else ""


def conversation(reports: Sequence[Report], hooks: Hooks | None) -> Talk | None:
    """The conversation of one launch, by its reports, oldest first.

    None where nothing was worked on in it: agents keep no conversation without a turn, and cannot resume it.
    """
    if hooks is None:
        return None
    named = [(report, name) for report in reports if (name := told(report, hooks.session))]
    if not named:
        return None
    last, name = named[-1]
    worked = any(report.state is State.WORKING for report, other in named if other == name)
    return talk(name, told(last, hooks.transcript)) if worked else None


def talk(name: object, transcript: str) -> Talk | None:
    """The conversation of this id; None where it is none that could go on a command line."""
    return Talk(name, transcript) if isinstance(name, str) and _ID.fullmatch(name) else None


def carried(delivery: Delivery, took: Sequence[str], at: float) -> Delivery:
    """The delivery once its agent's process is gone. `took` are prompts that the agent reported since the paste.

    Only the submit key, on record before it is pressed, hands a text over. What was pasted and not submitted went
    with the composer, and is typed anew; what was submitted is not.
    """
    if delivery.phase is Phase.DONE:
        return delivery
    if delivery.typed is not Typed.NO and any(same_words(one, delivery.text) for one in took):
        return rules.taken(delivery, at, Witness.REPORT.value)
    if delivery.status is Status.NOT_SENT:
        return rules.superseded(delivery)
    if delivery.presses:
        return rules.failed(delivery, UNPROVEN, at)
    return replace(delivery, phase=Phase.WAITING, typed=Typed.NO, note="", pasted_at=None, seen_at=None)
