"""What a wait has come to."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from fan.core.fence import fenced
from fan.core.plain import one_line
from fan.core.secrets import masked
from fan.render.cells import age
from fan.render.lines import aligned

if TYPE_CHECKING:
    from fan.verbs.wait import Mail, Shown, Waited


def reached(found: Waited) -> str:
    """A line a member: name, state, what more is known."""
    table = [
        (one_line(one.name), one.state, one_line(", ".join(part for part in (one.kind, one.detail) if part)) or "-")
        for one in found.members
    ]
    return aligned(table)


def mail(found: Mail, now: float, said: Callable[[str], str]) -> str:
    """A line a message: id, from whom, in which thread, when; then the command that shows them, as `said`."""
    heads = [
        f"{one.kind} {one.id} from {one_line(one.author)} (verified: {one.verified}) in thread {one.thread},"
        f" {age(one.at, now)} ago\n"
        for one in found.messages
    ]
    return "".join(heads) + said("read with: fan mail read --unread\n")


def shown(found: Shown) -> str:
    """The line, between fence lines."""
    return fenced(masked(found.line), one_line(found.name), secrets.token_hex(4))
