"""Reading what agents wrote down, from the hook's word of where it lies to the sum of tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fan.core.compare import Tokens, tokens
from fan.core.model import State
from fan.errors import BadRecipe, DiskFailed
from fan.world.catalogue import Catalogue
from fan.world.store.records import Store
from fan.world.transcripts import items

USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 1000, "output_tokens": 20}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "s")
    yield store
    store.close()


def _report(store: Store, state: str, payload: str, dropped: str = "") -> None:
    with store._write() as db:
        columns = "member, launch, state, kind, at, payload, dropped"
        db.execute(f"INSERT INTO reports ({columns}) VALUES ('m', 'l', ?, '', 5, ?, ?)", (state, payload, dropped))


def test_hooks_tell_where_it_lies(store: Store) -> None:
    """Each different place once and in order; cut, foreign and nested input tells nothing and does no harm."""
    for payload in ('{"p": "/b", "x": 1}', '{"p": "/a"}', '{"p": "/b"}', '{"p": 3}', '{"p": "/cut', "", "[]"):
        _report(store, "working", payload)
    _report(store, "rest", '{"p": "/nested"}', dropped="a nested agent")
    assert store.told("m", "p") == ["/b", "/a"]
    assert store.told("other", "p") == []
    assert (len(store.reported("m", State.WORKING)), store.reported("m", State.REST)) == (7, [])


def test_lines_are_read_while_they_are_written(tmp_path: Path) -> None:
    """A half-written last line and lines that hold no mark are passed over."""
    file = tmp_path / "t"
    file.write_bytes(b'{"n": 1}\n{"other": 2}\n\xff{"n"}\n{"n": {"n": 3}}\n{"n": 4')
    assert list(items(file, ["n"])) == [{"n": 1}, {"n": {"n": 3}}]


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A fifo that nobody writes to holds nobody up, a device is not read for ever."""
    os.mkfifo(tmp_path / "fifo")
    for file in (tmp_path / "fifo", Path("/dev/zero"), tmp_path, tmp_path / "none"):
        with pytest.raises(DiskFailed):
            list(items(file, ["x"]))


def test_an_answer_s_blocks_share_its_numbers(tmp_path: Path) -> None:
    """A transcript of Claude Code has a line for each block of an answer, all with the answer's usage; a line that
    stands for an error has zeros.

    Red when `message` is missing from the recipe: text and tool use would count twice.
    """
    recipe = Catalogue(tmp_path).recipe("claude")
    assert recipe.transcript
    how = recipe.transcript.tokens
    nothing = dict.fromkeys(USAGE, 0)
    lines = [
        {"type": "user", "message": {"role": "user", "content": "x"}},
        {"type": "assistant", "message": {"id": "msg_1", "usage": USAGE, "content": [{"type": "text"}]}},
        {"type": "assistant", "message": {"id": "msg_1", "usage": USAGE, "content": [{"type": "tool_use"}]}},
        {"type": "assistant", "message": {"id": "msg_2", "usage": USAGE, "content": [{"type": "text"}]}},
        {"type": "assistant", "message": {"id": "e", "model": "<synthetic>", "usage": nothing}},
        {"type": "system", "subtype": "turn_duration"},
    ]
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    counts = {"input": how.input, "cached": how.cached, "output": how.output}
    assert tokens(items(file, ["tokens"]), how.message, counts) == Tokens(214, 2000, 40)


def test_a_transcript_needs_the_hook_that_leads_to_it(tmp_path: Path) -> None:
    """A recipe that reads a transcript it cannot find is refused with the key."""
    text = (Catalogue(tmp_path).names()["demo"]).read_text()
    (tmp_path / "other.toml").write_text(
        text.replace('name = "demo"', 'name = "other"').replace("transcript =", "# ")
    )
    with pytest.raises(BadRecipe, match=r"hooks\.transcript"):
        Catalogue(tmp_path).recipe("other")
