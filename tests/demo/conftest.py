"""The demo agent, ready to be started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.demo import Demo, open_demo


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with open_demo(tmp_path) as opened:
        yield opened
