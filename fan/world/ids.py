"""Ids that were never given before."""

from __future__ import annotations

import random

from fan.core import naming

_choice = random.SystemRandom().choice


def new_id() -> str:
    """For a group, a member, a message, a question, a removal or an archive."""
    return naming.new_id(_choice)


def new_launch() -> str:
    """For one start of a member's agent: twice as long, since who knows it claims to be that agent."""
    return new_id() + new_id()
