"""When a usage limit ends, as far as the agent's words tell."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s*([ap]m)?\b", re.IGNORECASE)
_SPAN = re.compile(r"\b(\d+)\s*(d|h|m)(?:ays?|ours?|r|rs|in|ins|inutes?)?\b", re.IGNORECASE)
_DAY = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})\b", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SECONDS = {"d": 86400, "h": 3600, "m": 60}


def ends_at(words: str, said: datetime) -> datetime | None:
    """The end in `words` (`3pm`, `17:00`, `in 2h 15m`, `Dec 3, 9am`), said at the local time `said`; None: not told.

    A time of day without a date is the next one after it was said.
    """
    if re.search(r"\bin\b", words, re.IGNORECASE) and (spans := _SPAN.findall(words)):
        return said + timedelta(seconds=sum(int(number) * _SECONDS[unit.lower()] for number, unit in spans))
    day = _DAY.search(words)
    clock = _CLOCK.search(words[day.end() :] if day else words)
    if clock is None:
        return None
    hour, minute = int(clock[1]) % 12 if clock[3] else int(clock[1]), int(clock[2] or 0)
    hour += 12 if (clock[3] or "").lower() == "pm" else 0
    if hour > 23 or minute > 59 or not (clock[2] or clock[3]):
        return None
    end = said.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if day is None:
        return end if end > said else end + timedelta(days=1)
    return _on(end, _MONTHS.index(day[1].lower()) + 1, int(day[2]), said)


def _on(end: datetime, month: int, day: int, said: datetime) -> datetime | None:
    """That day this year, or next year where it has long passed."""
    try:
        dated = end.replace(month=month, day=day)
    except ValueError:
        return None
    return dated if dated > said - timedelta(days=180) else dated.replace(year=dated.year + 1)
