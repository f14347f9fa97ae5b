"""Fixtures of the tests that run the whole command."""

from __future__ import annotations

from tests.support.cli import fan

__all__ = ["fan"]
