"""`fan skill` and the brief: what they tell agents to run is what there is."""

from __future__ import annotations

import re

import pytest
import typer

from fan.core.brief import BRIEF
from fan.verbs.skill import FOLDER, skill, topics
from tests.support.cli import ROOT, Fan
from tests.support.lines import parse, spans

PAGES = {file.name: file.read_text() for file in FOLDER.glob("*.md")} | {
    "docs/mail.md": (ROOT / "docs" / "mail.md").read_text()
}
LINES = [(name, line) for name, text in sorted(PAGES.items()) for line in spans(text)]
IN_BRIEF = re.findall(r": (fan .+?)(?:\. |$)", BRIEF, re.MULTILINE)


@pytest.mark.parametrize(("page", "line"), LINES)
def test_every_command_line_of_a_page_is_one(page: str, line: str) -> None:
    """The real parser takes it, options and all. Red when an option is renamed and the page is not."""
    parse(line)


@pytest.mark.parametrize("line", IN_BRIEF)
def test_every_command_line_of_the_brief_is_one(line: str) -> None:
    """The real parser takes it, and a recipe's `allow` lets it run: all are of `fan mail` and `fan skill`."""
    parse(line)
    assert line.split()[1] in ("mail", "skill")


def test_the_parser_is_asked() -> None:
    """A made-up option and a made-up verb are refused by what these tests use, and the pages hold many lines."""
    for line in ("fan mail read --made-up", "fan made-up", "fan mail send"):
        with pytest.raises(typer.TyperException):
            parse(line)
    assert (len(IN_BRIEF), len(LINES) > 40) == (4, True)


def test_topics_are_pages_and_the_index_names_them(fan: Fan) -> None:
    """Each topic prints its page, the index names each; an unknown one is refused with the near one. No state
    is made."""
    index = fan.run("skill")
    assert (index.code, index.out) == (0, skill().text)
    for topic in topics():
        assert f"`fan skill {topic}`" in index.out
        assert fan.run("skill", topic).out == PAGES[f"{topic}.md"]
    refused = fan.run("skill", "mial", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_found")
    assert refused.json["error"]["hint"].endswith("fan skill mail")
    assert fan.run("skill", "human", "--json").json["topic"] == "human"
    assert not fan.state.exists()


def test_pages_are_short() -> None:
    """An agent reads a page at the price of its tokens: at most 40 lines and 2 KB, the brief at most 1 KB."""
    for name, text in PAGES.items():
        if not name.startswith("docs/"):
            assert len(text.splitlines()) <= 40, name
            assert len(text.encode()) <= 2048, name
    assert len(BRIEF.encode()) <= 1024
