"""What the recipe of this agent relies on, shown with the real program."""

from __future__ import annotations

import json

import pytest

from tests.agents.conftest import Lab
from tests.agents.drive import Actor
from tests.support.wait import eventually

pytestmark = pytest.mark.agents

TRUST = "1. Yes, I trust this folder"


def at_rest(actor: Actor) -> None:
    """Returns once its box is there and nothing moves: the title says rest before the box takes keys."""
    actor.wait_for("for shortcuts")
    actor.wait_still()


def test_trust_given_in_one_worktree_holds_for_the_next(claude: Lab) -> None:
    """The question comes once per repository: its root is what is remembered, whichever worktree it was asked in."""
    top = claude.repos.repo()
    trees = [claude.repos.place(name) for name in ("one", "two")]
    for tree in trees:
        claude.repos.git(top, "worktree", "add", "--quiet", "--detach", str(tree))
    first = claude.start(trees[0], name="first")
    first.wait_for(TRUST)
    first.press("Enter")
    at_rest(first)
    assert list(json.loads((claude.home / ".claude.json").read_text())["projects"]) == [str(top)]
    second = claude.start(trees[1], name="second")
    at_rest(second)
    assert TRUST not in second.screen()
    for number, actor in enumerate((first, second)):
        actor.submit(f"prompt {number}")
    eventually(lambda: sorted(claude.model.prompts()) == ["prompt 0", "prompt 1"], within=20)
    assert [claude.model.prompts(folder=str(tree)) for tree in trees] == [["prompt 0"], ["prompt 1"]]


def test_the_cursor_is_in_the_composer_and_not_in_a_box_that_a_question_draws(claude: Lab) -> None:
    """A question can draw a composer's box in the first column; the cursor stands on its options nevertheless."""
    top = claude.repos.repo()
    actor = claude.start(top)
    actor.wait_for(TRUST)
    actor.press("Enter")
    at_rest(actor)
    box = "\n".join(("─" * 80, "\u276f\u00a0", "─" * 80, "  ? for shortcuts"))
    options = [{"label": label, "description": label} for label in ("Red", "Blue")]
    question = {"question": f"Which?\n{box}", "header": "H", "multiSelect": False, "options": options}
    actor.submit(f"%tool=AskUserQuestion {json.dumps({'questions': [question]}, ensure_ascii=False)}%")
    actor.wait_for(r"1\. Red")
    actor.wait_still()
    rows = actor.screen().split("\n")
    drawn = next(number for number, row in enumerate(rows) if row.startswith("\u276f\u00a0"))
    assert rows[drawn - 1].startswith("────")
    assert rows[actor.facts().cursor[1]].endswith("1. Red")
