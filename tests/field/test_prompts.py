"""Field cases: words on their way into a composer."""

from __future__ import annotations

import pytest

from tests.support.cli import Fan
from tests.support.members import becomes, now, press, start, tmux, write
from tests.support.puppets import Puppets
from tests.support.wait import eventually, window

LINES = "Do this:\n  first\n\n\tthen\nlast\n\n"


@pytest.mark.field("B030")
def test_b030_several_lines_are_one_message(fan: Fan, puppets: Puppets) -> None:
    """A prompt of five lines arrives as one message, byte for byte but its closing newlines, where the paste is
    shown as a stub and an early Enter is ignored; a follow-up too."""
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet:paste", LINES)
    assert fan.run("send", rows[0]["id"], LINES, cwd=repo).code == 0
    puppets.takes(rows[0], LINES.rstrip("\n"), LINES.rstrip("\n"))
    puppets.takes(rows[1], LINES.rstrip("\n"))
    assert not [one for row in rows for one in puppets.events(row, "enter ignored")]


@pytest.mark.field("B030")
def test_b030_a_stub_that_stays_is_not_sent(fan: Fan, puppets: Puppets) -> None:
    """Where Enter does nothing it is tried a few times, then the row says `not_sent` and that the text is there."""
    env = {"PUPPET_ARGS": "--paste --lose-enter 1000"}
    (row,) = start(fan, fan.repos.repo(), 1, "puppet", LINES, code=1, env=env)
    assert (row["prompt_status"], row["typed"], puppets.submitted(row)) == ("not_sent", "yes", [])
    assert "still in the composer" in row["prompt_note"]
    keys = [one["key"] for one in puppets.events(row, "key")]
    assert keys.count("paste") == 1
    assert 2 <= keys.count("enter") <= 3


@pytest.mark.field("B031")
def test_b031_semicolons_arrive(fan: Fan, puppets: Puppets) -> None:
    """Texts that end in a semicolon, or are one, arrive as they are: as first prompt and as message."""
    repo = fan.repos.repo()
    texts = ["run the tests;", ";", "a;b;", "a backslash\\;"]
    asked = [word for text in texts for word in ("--prompt", text)]
    rows = start(fan, repo, 4, "puppet", *asked)
    for row, text in zip(rows, texts, strict=True):
        assert fan.run("send", row["id"], "--", text, cwd=repo).code == 0
    for row, text in zip(rows, texts, strict=True):
        puppets.takes(row, text, text)


@pytest.mark.field("B033")
def test_b033_no_list_entry_is_run(fan: Fan, puppets: Puppets) -> None:
    """Prompts that begin with / @ ! # are submitted whole, behind the recipe's guard that the row names; a slash in
    the middle needs none. No entry of the agent's list is run.

    Red when the guards of the recipe are not applied.
    """
    texts = ["/clear the table", "@notes.txt is wrong", "!ls lists nothing", "#remember this", "use a / here"]
    asked = [word for text in texts for word in ("--prompt", text)]
    rows = start(fan, fan.repos.repo(), 5, "puppet:popup", *asked)
    for row, text in zip(rows, texts, strict=True):
        guard = "Task: " if text[0] in "/@!#" else ""
        assert puppets.submitted(row) == [f"{guard}{text}".encode()]
        assert ("opens a list" in row["prompt_note"]) is bool(guard)
        assert not puppets.events(row, "POPUP RAN")


@pytest.mark.field("B034")
def test_b034_a_scrolled_pane_keeps_the_message(fan: Fan, puppets: Puppets) -> None:
    """While the person scrolls, nothing is typed; once they are back the message arrives whole and once.

    Red when a pane in copy mode counts as open.
    """
    repo = fan.repos.repo()
    (row,) = start(fan, repo, 1, "puppet", "Do it")
    becomes(fan, row, state="rest")
    before = puppets.raw(row)
    tmux(fan, "copy-mode", "-t", row["pane"])
    assert fan.run("send", row["id"], "q jjk gg quit / now", cwd=repo).code == 3
    window(2)
    assert (puppets.raw(row), now(fan, row)["prompt_status"]) == (before, "pending")
    assert "copy mode" in fan.run("why", row["id"], "--json", cwd=repo).json["obstacle"]
    assert tmux(fan, "display-message", "-p", "-t", row["pane"], "#{pane_in_mode}") == "1"
    tmux(fan, "send-keys", "-t", row["pane"], "-X", "cancel")
    puppets.takes(row, "Do it", "q jjk gg quit / now")


@pytest.mark.field("B034")
def test_b034_scrolling_while_the_first_prompt_is_pending(fan: Fan, puppets: Puppets) -> None:
    """The first prompt waits for a scrolled pane as well."""
    (row,) = start(fan, fan.repos.repo(), 1, "puppet:gate", "Do it", code=3)
    pane = row["pane"]
    keys = ("send-keys", "-t", pane, "Enter", ";", "send-keys", "-t", pane, "Enter", ";", "copy-mode", "-t", pane)
    tmux(fan, *keys)
    eventually(lambda: len(puppets.events(row, "answered")) == 2)
    window(2)
    assert puppets.raw(row) == b"\r\r"
    tmux(fan, "send-keys", "-t", pane, "-X", "cancel")
    puppets.takes(row, "Do it")


@pytest.mark.field("B035")
def test_b035_a_persons_draft_is_left_alone(fan: Fan, puppets: Puppets) -> None:
    """A message waits beside a draft, says why, and arrives after the person has submitted or cleared it.

    Red when a composer with text in it counts as empty.
    """
    repo = fan.repos.repo()
    rows = start(fan, repo, 2, "puppet", "Do it")
    for row in rows:
        becomes(fan, row, state="rest")
        write(fan, row, "rename the")
        puppets.has_keys(row, b"rename the")
        assert fan.run("send", row["id"], "Then this", cwd=repo).code == 3
    window(2)
    for row in rows:
        assert puppets.raw(row).endswith(b"rename the")
        assert now(fan, row)["prompt_status"] == "pending"
        assert "draft" in fan.run("why", row["id"], "--json", cwd=repo).json["obstacle"]
    press(fan, rows[0], "Enter")
    puppets.takes(rows[0], "Do it", "rename the", "Then this")
    press(fan, rows[1], "C-u")
    puppets.takes(rows[1], "Do it", "Then this")
