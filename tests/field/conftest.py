"""Fixtures of the field cases: the whole command, with puppets as its agents."""

from __future__ import annotations

from tests.support.cli import fan
from tests.support.puppets import puppets

__all__ = ["fan", "puppets"]
