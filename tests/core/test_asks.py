"""Who may wait for whom, and what is told of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.asks import answer, cycle, for_record, introduced, late, late_words, told
from fan.core.mail import LARGEST_BODY, Message
from fan.core.transcript import Final

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


@pytest.mark.parametrize(
    ("sender", "inbox", "room", "is_read"),
    [
        ("human", "human", "human", False),
        ("script", "human", "human", False),
        ("l1", "l1", "g", False),
        ("agent", "agent", "g", True),
    ],
)
def test_a_late_answer_lies_where_its_asker_looks(sender: str, inbox: str, room: str, is_read: bool) -> None:
    """In time it is read already. Late it is unread mail: a member's in its own inbox, a script's in the person's,
    whose room outlasts the group; an agent without an inbox has it in the thread alone."""
    question = Message(1, "q1", "g", "l2", "x:1", sender, "me", "process", "q1", "So?", 5.0, about="m2")
    in_time = answer(question, "It is.\n", "a1", 9.0)
    assert (in_time.inbox, in_time.room, in_time.read_at, in_time.body) == (sender, "g", 9.0, "It is.")
    assert (in_time.sender, in_time.author, in_time.reply_to, in_time.thread) == ("l2", "x:1", "q1", "q1")
    found = late(in_time)
    assert (found.inbox, found.room, found.read_at is not None) == (inbox, room, is_read)
    assert answer(question, " \n", "a1", 9.0).body == "(it said nothing)"


@pytest.mark.parametrize(
    ("ended", "is_gone", "words"),
    [
        (True, False, "It is."),
        (True, True, "It is."),
        (False, False, "It is.\n[its turn did not end with these words]"),
        (False, True, ""),
    ],
)
def test_what_counts_as_a_late_answer(ended: bool, is_gone: bool, words: str) -> None:
    """Words that end a turn do; others say that they do not; those that a death has cut off are no answer."""
    assert late_words(Final("It is.", ended), is_gone=is_gone) == words
    assert late_words(None, is_gone=is_gone) == ""
