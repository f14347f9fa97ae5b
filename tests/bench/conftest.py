"""Fixtures of the benchmarks."""

from __future__ import annotations

from tests.support.cli import fan

__all__ = ["fan"]
