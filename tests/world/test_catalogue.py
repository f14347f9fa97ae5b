"""Recipes by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.errors import BadRecipe, NotFound, ToolMissing
from fan.world.catalogue import Catalogue, program, shipped
from tests.core.scene import recipe

TEXT = """
schema = 1
name = "{name}"
title = "The {name}"
recorded = ["1"]
launch.command = ["{name}"]
program.commands = ["{name}"]
options.big = {{ arguments = ["--big"] }}
proof = {{ rest = false, working = false }}
screen = {{ rules = [], composer = {{ prompt = ">" }} }}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def builtin(tmp_path: Path) -> Path:
    folder = tmp_path / "builtin"
    folder.mkdir()
    for name in ("alpha", "beta"):
        (folder / f"{name}.toml").write_text(TEXT.format(name=name))
    return folder


def test_the_persons_own_recipe_goes_over_a_shipped_one(own: Path, builtin: Path) -> None:
    """By name, sorted; what is not a TOML file is none."""
    (own / "beta.toml").write_text(TEXT.format(name="beta").replace("The beta", "Mine"))
    (own / "notes.md").write_text("")
    found = Catalogue(own, builtin)
    assert found.names() == {"alpha": builtin / "alpha.toml", "beta": own / "beta.toml"}
    assert found.recipe("beta").title == "Mine"


def test_without_an_own_folder_the_shipped_ones_are_there(tmp_path: Path) -> None:
    """And the demo agent is among them, in a checkout as in an installed package."""
    found = Catalogue(tmp_path / "none")
    assert "demo" in found.names()
    assert found.recipe("demo").name == "demo"
    assert shipped().is_dir()


def test_an_unknown_name_is_refused_with_near_ones(own: Path, builtin: Path) -> None:
    """Before anything is made; with nothing near, all that are known."""
    found = Catalogue(own, builtin)
    for asked, words in (("alpah", "did you mean alpha?"), ("zzz", "known: alpha, beta")):
        with pytest.raises(NotFound) as refused:
            found.choose(asked)
        assert words in refused.value.message
        assert refused.value.not_done == "nothing was made"


def test_a_variant_is_an_option_of_the_recipe(own: Path, builtin: Path) -> None:
    """`alpha:big` has its arguments; one that is not there is refused with those that are."""
    found = Catalogue(own, builtin)
    assert (found.choose("alpha").label, found.choose("alpha").option.arguments) == ("alpha", [])
    assert (found.choose("alpha:big").label, found.choose("alpha:big").option.arguments) == ("alpha:big", ["--big"])
    with pytest.raises(NotFound) as refused:
        found.choose("alpha:bigger")
    assert "big" in refused.value.message


def test_a_bad_recipe_harms_only_who_asks_for_it(own: Path, builtin: Path) -> None:
    """The file is named; the others work."""
    (own / "bad.toml").write_text("name = [")
    (own / "latin.toml").write_bytes(b"name = '\xff'")
    (own / "other.toml").write_text(TEXT.format(name="alpha"))
    found = Catalogue(own, builtin)
    for name in ("bad", "latin", "other"):
        with pytest.raises(BadRecipe) as refused:
            found.recipe(name)
        assert str(own / f"{name}.toml") in refused.value.message
    assert found.recipe("alpha").name == "alpha"


def test_a_program_is_found_on_the_callers_path(tmp_path: Path) -> None:
    """B057: the caller's PATH counts, not ours; what is not there is refused before anything is made."""
    tool = tmp_path / "agent"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert program("agent", recipe(), {"PATH": str(tmp_path)}) == str(tool)
    for environ in ({"PATH": "/nowhere"}, {"PATH": str(tmp_path.parent)}):
        with pytest.raises(ToolMissing) as refused:
            program("agent", recipe(), environ)
        assert "`agent`" in refused.value.message
    tool.chmod(0o644)
    with pytest.raises(ToolMissing):
        program("agent", recipe(), {"PATH": str(tmp_path)})
