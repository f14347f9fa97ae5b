"""How long a message takes to be stored while 31 others store theirs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fan.world.store.records import Store
from tests.bench.measure import told_absolute
from tests.support.cli import ROOT, Fan

pytestmark = pytest.mark.bench
WRITERS, EACH = 32, 100
WRITER = """
import sys, time
from pathlib import Path
from fan.core.mail import Message
from fan.world.store.records import Store
store, name = Store(Path(sys.argv[1])), sys.argv[2]
print(flush=True)
sys.stdin.readline()
for n in range(int(sys.argv[3])):
    one = Message(0, f"{name}-{n}", f"room-{name}", "to", "to", name, name, "process", "", f"body {n}", 1000.0 + n)
    begun = time.perf_counter()
    store.post([one], charge=False)
    print(time.perf_counter() - begun)
"""


def test_32_writers_store_their_mail(fan: Fan) -> None:
    """100 durable messages each, all started at once: p99 of a message at most 50 ms, none lost."""
    Store(fan.state).close()
    writers = [_writer(fan, n) for n in range(WRITERS)]
    for one in writers:
        assert one.stdout is not None
        one.stdout.readline()
    for one in writers:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    took = sorted(float(line) for one in writers for line in one.communicate()[0].split())
    assert len(took) == len(Store(fan.state).inbox("to")) == WRITERS * EACH
    told_absolute("a message of 32 writers, p50", took[len(took) // 2] * 1000, 25, "ms")
    told_absolute("a message of 32 writers, p99", took[len(took) * 99 // 100] * 1000, 50, "ms")


def _writer(fan: Fan, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(fan.state), f"w{number}", str(EACH)],
        env={**fan.env, "PYTHONPATH": str(Path(ROOT))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
