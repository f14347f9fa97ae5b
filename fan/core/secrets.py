"""Masking of secrets of well-known shapes in whatever is kept or shown beside its owner."""

from __future__ import annotations

import re

from fan.core.plain import one_line

_SHAPES = (
    r"(?<![A-Za-z])sk-[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z])[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?<![A-Za-z])hf_[A-Za-z0-9]{24,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"(?<=://)[^\s/?#@:]*:[^\s/?#]+(?=@)",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}",
    r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)
# Compiled when there is something to mask: every list of members loads this, and few have anything to quote.
_ANY = "|".join(_SHAPES)


def masked(text: str) -> str:
    """`text` with every secret of a known shape replaced by as many signs as it had."""
    return re.sub(_ANY, lambda found: "*" * len(found.group()), text)


def quoted(text: str) -> str:
    """An agent's words within a line of ours: masked, on one line, control characters visible."""
    return one_line(masked(text))


def found_words(found: re.Match[str] | None, group: int = 1) -> str:
    """What a pattern has found in an agent's words, as `quoted`; masked before it is cut out, empty if nothing."""
    if found is None or found[group] is None:
        return ""
    begin, end = found.span(group)
    return one_line(masked(found.string)[begin:end])
