"""The rules of mail: bounds, threads, allowance, what goes when a room is full, when an agent is told."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fan.core import waking
from fan.core.fence import fenced
from fan.core.mail import (
    BURST,
    RING,
    RING_BYTES,
    Attachment,
    Message,
    charged,
    checked,
    names_person,
    overflow,
    threaded,
)
from fan.core.model import Delivery, Status
from fan.errors import Empty, FanError, TooLarge, UsageError

M = Message(0, "m1", "room", "box", "to", "from", "author", "process", "", "body", 100.0)
FILE = Attachment("a", str(Path("/a")), "", 1)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (replace(M, body="  \n\t"), Empty),
        (replace(M, body="x" * 8193), TooLarge),
        (replace(M, body="ü" * 4097), TooLarge),
        (replace(M, subject="s" * 121), TooLarge),
        (replace(M, attachments=(FILE,) * 9), TooLarge),
        (replace(M, claim="c" * 61), TooLarge),
        (replace(M, body="\udcff"), UsageError),
    ],
)
def test_what_is_no_message_is_refused(message: Message, why: type[FanError]) -> None:
    """Each bound of the spec, by bytes where it says bytes; nothing sent is what each refusal says."""
    with pytest.raises(why) as refused:
        checked(message)
    assert refused.value.not_done == "nothing was sent"


def test_the_largest_message_passes() -> None:
    """8 KiB, 120 characters and 8 files are inside; end newlines go."""
    whole = replace(M, body="x" * 8192 + "\n\n", subject="s" * 120, attachments=(FILE,) * 8)
    assert checked(whole).body == "x" * 8192


def test_the_eleventh_in_a_row_is_not_allowed_and_half_a_minute_brings_more() -> None:
    """Ten back to back, then one every two seconds, never more than ten saved up."""
    allowance: float | None = float(BURST)
    for _ in range(10):
        assert allowance is not None
        allowance = charged(allowance, 0.0)
    assert allowance is not None
    assert charged(allowance, 0.0) is None
    assert charged(allowance, 1.9) is None
    assert charged(allowance, 2.0) is not None
    assert charged(0.0, 1e6) == BURST - 1


@given(st.lists(st.floats(0, 30), max_size=200))
def test_no_minute_has_more_than_forty(gaps: list[float]) -> None:
    """However they are spread: ten at once and thirty a minute is the most that any 60 seconds see."""
    now, last, allowance = 0.0, 0.0, float(BURST)
    sent = []
    for gap in gaps:
        now += gap
        left = charged(allowance, now - last)
        if left is not None:
            allowance, last = left, now
            sent.append(now)
    assert all(len([other for other in sent if at <= other < at + 60]) <= 40 for at in sent)


@given(st.lists(st.integers(0, 9000), max_size=400))
def test_a_room_keeps_the_newest_within_its_bounds(sizes: list[int]) -> None:
    """What stays fits both bounds, and one more would not: nothing goes without need."""
    gone = overflow(sizes)
    kept = sizes[gone:]
    assert len(kept) <= RING
    assert sum(kept) <= RING_BYTES
    if gone:
        one_more = sizes[gone - 1 :]
        assert len(one_more) > RING or sum(one_more) > RING_BYTES


def test_a_thread_is_fixed_when_it_is_stored() -> None:
    """Own id; the parent's thread and subject; the thread of a parent that was evicted, which is told."""
    assert threaded(M, None).thread == "m1"
    parent = replace(M, id="p", thread="t", subject="About")
    answer = threaded(replace(M, reply_to="p"), parent)
    assert (answer.thread, answer.subject, answer.reply_to_missing) == ("t", "About", False)
    late = threaded(replace(M, reply_to="p"), None, "t")
    assert (late.thread, late.reply_to_missing) == ("t", True)


def test_one_line_for_many_and_none_for_what_was_told() -> None:
    """N messages, one line that counts them; none while one is pending, within the distance, or without news."""
    unread = [replace(M, at=10.0), replace(M, at=11.0, author="b")]
    assert waking.line(unread, None, 20.0, 60.0) == (
        "[fan] You have 2 new messages from author, b. Read with: fan mail read --unread"
    )
    told = Delivery(1, "m", "", 12.0, status=Status.SENT, pasted_at=12.5)
    assert not waking.line(unread, told, 500.0, 60.0)
    more = [*unread, replace(M, at=13.0)]
    assert not waking.line(more, told, 30.0, 60.0)
    assert "a new message from author" in waking.line(more, told, 73.0, 60.0)
    assert not waking.line(more, replace(told, status=Status.PENDING), 500.0, 60.0)
    refused = replace(told, status=Status.NOT_SENT)
    assert "3 new messages" in waking.line(more, refused, 73.0, 60.0)


WORDS = st.text(st.sampled_from("-- end\nfrom0a1f\r\u2028\x1b[2K\x85\u202e"), max_size=120)


@given(body=st.one_of(st.text(max_size=300), WORDS), source=st.text(max_size=60), mark=st.integers(0, 2**32 - 1))
def test_no_body_closes_its_fence(body: str, source: str, mark: int) -> None:
    """Between the fence lines stands the body and nothing that ends it: a closing line needs a mark that its author
    could not know. Nor does anything in it move the cursor or begin a line where it does not.

    Red when a control character or another line separator is let through.
    """
    mark_text = f"{mark:08x}"
    if mark_text in body or mark_text in source:
        return
    lines = fenced(body, source, mark_text).split("\n")
    assert lines[-1] == ""
    assert [n for n, line in enumerate(lines) if mark_text in line] == [0, len(lines) - 2]
    assert lines[-2] == f"--- end {mark_text} ---"
    obeyed = [char for line in lines for char in line if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert set(obeyed) <= {"\t", "\u200c", "\u200d"}
    assert len("\n".join(lines).splitlines()) == len(lines) - 1


@pytest.mark.parametrize(
    "claim",
    [
        "human",
        " HUMAN ",
        "the human",
        "\uff48uman",
        "hu\u200dman",
        "human:",
        "“Human”",
        "hum\u0430n",
        "hu\u034fman",
        "hu\u3164man",
        "hum\xe4n",
        "hurnan",
        "h\u10e3man",
        "\u04bb\u057d\u043c\u0430\u0578",
        "\u0397\u03c5\u03bc\u03b1\u03b7",
    ],
)
def test_a_name_that_reads_as_the_persons(claim: str) -> None:
    """As a word, in any case, width or alphabet, with what nobody sees or marks inside; another word is another name.

    Red when letters are compared as they are encoded and not as they look.
    """
    assert names_person(claim)


@pytest.mark.parametrize(
    "claim", ["", "humanizer", "the boss", "Павел", "Мария", "Ανδρέας", "Jörg", "李明", "hum\u0430"]
)
def test_other_names_are_not_the_persons(claim: str) -> None:
    """Names of people and programs in any alphabet."""
    assert not names_person(claim)
