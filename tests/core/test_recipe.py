"""Recipes are strict: a mistake is an error with file, key and reason."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fan.core.recipe import parse
from fan.errors import BadRecipe
from tests.core.scene import COMPOSER, document, recipe

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "recipes").glob("*.toml"))


def rule(**changes: Any) -> dict[str, Any]:
    """The document with its last rule, that of rest, changed."""
    found = document()
    found["screen"]["rules"][-1] |= changes
    return found


def screen(**changes: Any) -> dict[str, Any]:
    """The document with another composer."""
    found = document()
    found["screen"]["composer"] = COMPOSER | changes
    return found


def without(state: str) -> dict[str, Any]:
    """The document without the rules of one state."""
    found = document()
    found["screen"]["rules"] = [one for one in found["screen"]["rules"] if one["state"] != state]
    return found


BAD = [
    (document(colour="red"), "colour", "no key"),
    (document(submit={"gapp": 0.3}), "gapp", "no key"),
    (document(submit={"gap": "long"}), "submit.gap", "a number"),
    (document(schema=2), "schema", "2"),
    ({key: value for key, value in document().items() if key != "name"}, "name", "missing"),
    (document(program={"commands": ["("]}), "program.commands", "not a valid pattern"),
    (document(submit={"stubs": ["[a"]}), "submit.stubs", "not a valid pattern"),
    (
        document(submit={"guards": [{"at": "start", "match": "*", "add": "x", "why": "y"}]}),
        "submit.guards",
        "not a valid pattern",
    ),
    (
        document(submit={"guards": [{"at": "middle", "match": "x", "add": "x", "why": "y"}]}),
        "submit.guards",
        "middle",
    ),
    (document(version={"command": ["a"], "pattern": "("}), "version.pattern", "not a valid pattern"),
    (document(version={"command": ["a"], "pattern": "x"}), "version.pattern", "group"),
    (screen(below="("), "screen.composer.below", "not a valid pattern"),
    (screen(indent="("), "screen.composer.indent", "not a valid pattern"),
    (rule(match=["("]), "screen.rules[6]", "not a valid pattern"),
    (rule(unless=["["]), "screen.rules[6]", "not a valid pattern"),
    (rule(detail="resets"), "screen.rules[6].detail", "group"),
    (rule(match=[]), "screen.rules[6]", "every screen"),
    (rule(kind="trust"), "screen.rules[6]", "needs_input"),
    (rule(state="needs_input"), "screen.rules[6]", "needs_input"),
    (rule(state="sleeping"), "screen.rules[6].state", "sleeping"),
    (rule(region="scrollback"), "screen.rules[6].region", "scrollback"),
    (document(launch={"command": []}), "launch.command", "empty"),
    (without("rest"), "proof.rest", "no rule does"),
    (without("working"), "proof.working", "no rule does"),
]


@pytest.mark.parametrize(("data", "key", "reason"), BAD)
def test_a_mistake_names_file_key_and_reason(data: dict[str, Any], key: str, reason: str) -> None:
    """Unknown keys, wrong types, patterns that do not compile or lack their group, and contradictions."""
    with pytest.raises(BadRecipe) as refused:
        parse(data, where="/home/p/agent.toml")
    assert "/home/p/agent.toml" in refused.value.message
    assert key in refused.value.message
    assert reason in refused.value.message
    assert refused.value.hint


def test_a_recipe_without_proof_need_not_show_any() -> None:
    """What it does not claim it need not prove."""
    assert parse(without("working") | {"proof": {"working": False}}, where="x").proof.rest


def test_a_title_of_rest_is_a_second_witness() -> None:
    """Only a rule of rest makes it one."""
    assert recipe(titles=True).has_signal
    assert not recipe().has_signal


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_shipped_recipe_is_valid(file: Path) -> None:
    """It parses, is named for its file, and says on which version it was recorded."""
    found = parse(tomllib.loads(file.read_text(encoding="utf-8")), where=file.name)
    assert found.name == file.stem
    assert found.recorded


def test_there_are_shipped_recipes() -> None:
    """Red when the folder moves and the test above finds nothing."""
    assert "demo" in {file.stem for file in SHIPPED}
