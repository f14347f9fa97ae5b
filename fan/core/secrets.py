"""Masking of secrets of well-known shapes in whatever is kept or shown beside its owner."""

from __future__ import annotations

import re

_SHAPES = (
    r"(?<![A-Za-z])sk-[A-Za-z0-9_-]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"AKIA[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}",
    r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)
_ANY = re.compile("|".join(_SHAPES))


def masked(text: str) -> str:
    """`text` with every secret of a known shape replaced by as many signs as it had."""
    return _ANY.sub(lambda found: "*" * len(found.group()), text)
