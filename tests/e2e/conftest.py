"""Fixtures of the tests that run the whole command."""

from __future__ import annotations

from tests.support.cli import fan
from tests.support.puppets import puppets

__all__ = ["fan", "puppets"]
