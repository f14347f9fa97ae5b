"""What is run for a member in a sandbox, and what is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fan.cli.app import program
from fan.core.recipe import parse
from fan.core.requests import FORWARDED, WITHHELD, is_withheld, permitted, refusal
from fan.courier.start import environment
from fan.errors import BadRecipe, Conflict, NotAllowed

ID = "0123456789abcdef"


@pytest.mark.parametrize(
    "line",
    [
        "mail read --unread",
        "mail ls",
        "stash put f",
        "stash get 1234",
        "stash ls",
        "wait x --until rest",
        "skill mail",
        "events --json",
        "report rest",
        "ls --json",
    ],
)
def test_these_are_run_as_they_are(line: str) -> None:
    """Reading, waiting and handing over are open to who sits in a sandbox."""
    assert permitted(line.split(), ID) == line.split()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "3 --agent demo x",
        "keep x",
        "rm x",
        "stash rm 1234",
        "stash",
        "mail",
        "config approve",
        "ask x y",
        "send x y",
        "ls --watch",
        "events --follow",
        "recipe check f",
        "--install-completion",
    ],
)
def test_nothing_else_is(line: str) -> None:
    """Everything else, and what never ends, is refused. Goes red when the list of what is allowed lets it through."""
    with pytest.raises(NotAllowed):
        permitted(line.split(), ID)


def test_a_send_is_keyed_by_its_request_so_that_it_is_sent_once() -> None:
    """Done again after a crash it is the same message; a key of the sender's own stays, a text is no option."""
    assert permitted(["mail", "send", "human", "x"], ID) == ["mail", "send", "--key", f"request-{ID}", "human", "x"]
    assert permitted(["mail", "reply", "i", "--", "--key"], ID)[2:4] == ["--key", f"request-{ID}"]
    for own in (["--key", "k"], ["--key=k"]):
        line = ["mail", "send", "human", "x", *own]
        assert permitted(line, ID) == line


def test_what_cannot_be_keyed_is_not_done_again() -> None:
    """A question to the person that was broken off is not asked twice; whoever asks is told."""
    line = ["mail", "ask-human", "May I?"]
    assert permitted(line, ID) == line
    with pytest.raises(Conflict):
        permitted(line, ID, again=True)
    assert permitted(["mail", "read"], ID, again=True) == ["mail", "read"]


def test_a_recipe_that_opens_no_folder_is_refused() -> None:
    """A sandbox without `{requests}` would leave its agent without mail, and nobody would know why."""
    file = Path(__file__).parents[2] / "recipes" / "codex.toml"
    data = tomllib.loads(file.read_text())
    assert parse(data, where="x").sandbox
    with pytest.raises(BadRecipe, match=r"sandbox\.arguments"):
        parse(data | {"sandbox": {"arguments": ["--add-dir", "/"]}}, where="x")
    with pytest.raises(BadRecipe, match="folder"):
        parse(data | {"sandbox": {"arguments": ["{requests}"], "folder": "/"}}, where="x")


def test_the_courier_never_believes_that_it_sits_in_a_sandbox() -> None:
    """Started by a member's verb it does not inherit that member's folder: its own verbs would wait for itself."""
    assert environment({"FAN_REQUESTS": "/r", "FAN_STATE_DIR": "/s", "HOME": "/h"}) == {
        "FAN_STATE_DIR": "/s",
        "HOME": "/h",
    }


def test_the_courier_has_nothing_of_the_member_that_starts_it() -> None:
    """Neither who it is nor its ports; settings are everybody's. Red when a variable of a member's is carried."""
    own = ("MEMBER", "GROUP", "PANE", "LAUNCH", "REQUESTS", "BIN", "PORT", "PORT_COUNT")
    given = {f"FAN_{name}": "1" for name in (*own, "PORT_BASE")}
    assert environment(given) == {"FAN_PORT_BASE": "1"}


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("ls --group x --watch", "fan ls --watch"),
        ("events --follow", "fan events --follow"),
        ("N --count 3", "fan N"),
        ("keep x:1", "fan keep x:1"),
        ("stash rm 1234", "fan stash rm"),
    ],
)
def test_a_refusal_names_what_is_refused(line: str, named: str) -> None:
    """The verb, and the option that it is about; not an option that would have been fine."""
    assert str(refusal(line.split())) == f"`{named}` is not run for a member in a sandbox"


def test_every_verb_is_forwarded_or_withheld_or_needs_no_store() -> None:
    """Goes red for a new verb that nobody has thought of here."""
    free = {"recipe", "config", "doctor", "mcp"}
    assert set(program().commands) == FORWARDED | WITHHELD | free
    assert is_withheld(["config", "approve"])
    assert not is_withheld(["config"])
