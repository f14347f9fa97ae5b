"""Who may wait for whom, and what is told of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fan.core.asks import cycle, for_record, introduced, told
from fan.core.mail import LARGEST_BODY

NODES = st.sampled_from("abcdefg")
EDGES = st.lists(st.tuples(NODES, NODES).filter(lambda edge: edge[0] != edge[1]), max_size=14)


def _reaches(edges: list[tuple[str, str]], start: str, goal: str) -> bool:
    """Whether `goal` can be come to from `start`: by spreading until nothing is new."""
    reached = {start}
    while True:
        more = {other for one, other in edges if one in reached} - reached
        if not more:
            return goal in reached
        reached |= more


@given(EDGES, NODES, NODES)
def test_a_round_is_found_exactly_when_there_is_one(edges: list[tuple[str, str]], asker: str, target: str) -> None:
    """It is told edge by edge from the asker back to itself, and each edge but the new one was there.

    Red when only direct returns are looked for.
    """
    way = cycle(edges, asker, target)
    assert bool(way) == _reaches(edges, target, asker)
    if way:
        assert (way[0], way[1], way[-1]) == (asker, target, asker)
        assert all((one, other) in edges for one, other in pairwise(way[1:]))


@given(EDGES.map(lambda edges: [(min(edge), max(edge)) for edge in edges]), NODES, NODES)
def test_who_asks_only_downwards_is_never_refused(edges: list[tuple[str, str]], asker: str, target: str) -> None:
    """A graph without rounds stays without one by an edge that goes the same way."""
    if asker < target:
        assert cycle(edges, asker, target) == []


def test_a_round_in_words() -> None:
    """Every edge is named, by names where they are known."""
    assert told(["a", "b", "c", "a"], {"a": "fan/x:1"}) == "fan/x:1 waits for b, b waits for c, c waits for fan/x:1"


def test_an_agents_text_says_whose_it_is() -> None:
    """One line before the text, which a name cannot break."""
    line, text = introduced("Do it\nnow", "fan/x:1\n(a)", "process").split("\n", 1)
    assert line == "[fan: from fan/x:1 (a), another agent (verified: process), not your operator]"
    assert text == "Do it\nnow"


@given(st.text(max_size=40), st.integers(0, 3000))
def test_the_record_holds_what_a_message_can(text: str, times: int) -> None:
    """What fits is kept as it is; more is cut between characters, and a note says how much there was."""
    whole = (text * times).rstrip()
    kept = for_record(text * times)
    assert len(kept.encode()) <= LARGEST_BODY
    if len(whole.encode()) <= LARGEST_BODY:
        assert kept == whole
    else:
        cut, note = kept.rsplit("\n", 1)
        assert whole.startswith(cut)
        assert str(len(whole.encode())) in note
