"""What an agent truly did in a scripted session, by the model's log and the script, beside what was read meanwhile.

The log knows when the model was asked and had answered, the script when a key was pressed. Between the submit key and
the request, and for `PAINTING` seconds after the last byte, while it runs its hooks and paints, neither can tell.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from fan.core.model import State
from fan.core.reading import Reading
from fan.verbs.rows import seen_now
from fan.world.world import open_world
from tests.agents.live import Live

EVERY = 0.1
PAINTING = 1.5
REST, WORK, DIALOG = "rest", "work", "dialog"
SENDING, CLOSING, UNTOLD = "sending", "closing", "untold"
TOOLS = ("%bash=", "%tool=")


@dataclass(frozen=True)
class Sample:
    """A reading, and between which moments it was taken."""

    begun: float
    ended: float
    reading: Reading

    @property
    def words(self) -> str:
        """What was read, and what each witness said."""
        said = (f"{one.witness} {one.state} {'(stale)' if one.stale else ''}" for one in self.reading.claims)
        return f"{self.reading.state}: {', '.join(said)}"


class Sampler:
    """Reads the joint reading of one member every 100 ms, through doors of its own, while in its `with` block."""

    def __init__(self, live: Live) -> None:
        self.samples: list[Sample] = []
        self._live = live
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        world = open_world(self._live.environ, self._live.top)
        while not self._stop.is_set():
            begun = time.time()
            seen = seen_now(world, [world.store.member(self._live.id)])[self._live.id]
            self.samples.append(Sample(begun, time.time(), seen.reading))
            self._stop.wait(max(0.0, begun + EVERY - time.time()))
        world.store.close()


@dataclass
class Truth:
    """Since when what holds. The marks may be made in any order."""

    marks: list[tuple[float, str]] = field(default_factory=list)

    def mark(self, at: float, label: str) -> None:
        """From `at` on, `label` holds."""
        self.marks.append((at, label))
        self.marks.sort()

    def hear(self, events: Iterable[dict[str, Any]], asking: Iterable[str]) -> None:
        """Take in the model's log; the answers to the prompts `asking` lead to a dialog, other tools run at once."""
        asked: dict[str, dict[str, Any]] = {}
        for event in events:
            if event["ev"] == "start" and event["kind"] == "main":
                asked[event["id"]] = event
                self.mark(event["t"], WORK)
            elif event["ev"] == "end" and event["id"] in asked:
                self._end(asked[event["id"]], event["t"], set(asking))

    def _end(self, request: dict[str, Any], at: float, asking: set[str]) -> None:
        text = request["user"]
        if any(tool in text for tool in TOOLS) and not request["after_tool"]:
            self.mark(at, DIALOG if text in asking else WORK)
            return
        self.mark(at, CLOSING)
        self.mark(at + PAINTING, REST)

    def at(self, sample: Sample) -> str:
        """What held while it was taken."""
        times = [at for at, _ in self.marks]
        first, last = bisect_right(times, sample.begun), bisect_right(times, sample.ended)
        return self.marks[first - 1][1] if first == last and first else UNTOLD


@dataclass(frozen=True)
class Score:
    """How often each state was read while each truth held, the samples wrongly read as rest, and the rests missed.

    `taken` were read as rest with an empty box after the submit key: the agent has the prompt and did not ask yet.
    """

    counts: Counter[tuple[str, str]]
    false_rests: list[Sample]
    missed_rests: list[Sample]
    taken: list[Sample]

    @property
    def recognised(self) -> float:
        """The share of rest that was read as rest."""
        rests = {read: count for (truth, read), count in self.counts.items() if truth == REST}
        return rests.get(State.REST.value, 0) / sum(rests.values())

    def table(self) -> str:
        """The confusion matrix."""
        rows = [f"{truth:8} {read:12} {count:5}" for (truth, read), count in sorted(self.counts.items())]
        slips = [f"{one.begun:.2f} {one.words}" for one in (*self.false_rests, *self.missed_rests)]
        return "\n".join(("truth    read         count", *rows, f"rest recognised: {self.recognised:.1%}", *slips))


def score(truth: Truth, samples: Iterable[Sample]) -> Score:
    """Every sample against the truth."""
    told = [(truth.at(sample), sample) for sample in samples]
    counts = Counter((label, sample.reading.state.value) for label, sample in told)
    wrong = [one for label, one in told if label in (WORK, DIALOG) and one.reading.state is State.REST]
    taken = [
        one
        for label, one in told
        if label == SENDING and one.reading.state is State.REST and not one.reading.obstacle
    ]
    missed = [one for label, one in told if label == REST and one.reading.state is not State.REST]
    return Score(counts, wrong, missed, taken)
