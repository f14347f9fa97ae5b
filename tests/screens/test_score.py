"""`fan recipe score` as people who write a recipe call it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.screens.recorded import ROOT
from tests.support.cli import Fan, fan

__all__ = ["fan"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the demo agent's screens."""
    shutil.copytree(ROOT / "demo" / "1", tmp_path / "frames" / "demo")
    return tmp_path / "frames"


def relabel(folder: Path, name: str, state: str) -> None:
    """Give a frame another true state."""
    file = folder / "demo" / f"{name}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"state": state}))


def test_score_as_json(fan: Fan, folder: Path) -> None:
    """The matrix and nothing else on standard output: agent, true state, read state, count; exit code 0."""
    result = fan.run("recipe", "score", str(folder), "--json")
    assert (result.code, result.err) == (0, "")
    matrix = result.json["demo"]
    assert matrix["rest"] == {"rest": 18}
    assert matrix["working"] == {"working": 6}
    assert sum(sum(reads.values()) for reads in matrix.values()) == len(list((folder / "demo").glob("*.txt")))


def test_score_by_agent_size_and_state(fan: Fan, folder: Path) -> None:
    """The same as a table, with the share of rest that was recognised; version folders count for their agent."""
    shutil.move(folder / "demo", folder / "moved")
    shutil.copytree(folder / "moved", folder / "demo" / "1")
    shutil.rmtree(folder / "moved")
    out = fan.run("recipe", "score", str(folder)).out
    assert ["demo", "80x24", "rest", "rest", "6"] in [line.split() for line in out.splitlines()]
    assert "demo: 18 of 18 rest frames recognised (100.0%), 0 of 39 others read as rest" in out
    assert "NOT AT REST" not in out


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_false_rest_fails_and_is_named(fan: Fan, folder: Path, flags: tuple[str, ...]) -> None:
    """A frame that is not at rest but read so gives exit code 1, its file and the rules that decided."""
    relabel(folder, "rest-01", "working")
    result = fan.run("recipe", "score", str(folder), *flags)
    assert result.code == 1
    told = result.err if flags else result.out
    assert "NOT AT REST, read as rest:\ndemo/rest-01.txt  working  rest  `\\? for help` is in the footer" in told


def test_a_missed_rest_is_named(fan: Fan, folder: Path) -> None:
    """A frame at rest that is not recognised is named with what was read and why; nothing was typed: exit code 0."""
    relabel(folder, "working-01", "rest")
    result = fan.run("recipe", "score", str(folder))
    assert result.code == 0
    assert (
        "at rest, not recognised:\ndemo/working-01.txt  rest  working  `esc to interrupt` is in the footer"
        in result.out
    )


def test_what_cannot_be_scored_is_said(fan: Fan, folder: Path) -> None:
    """Agents without a recipe and screens without a label are passed over by name, not in silence."""
    shutil.copytree(folder / "demo", folder / "nobody")
    (folder / "demo" / "rest-01.json").unlink()
    result = fan.run("recipe", "score", str(folder), "--json")
    assert result.code == 0
    assert list(result.json) == ["demo"]
    assert "skipped nobody: there is no recipe of that name" in result.err
    assert "skipped demo/rest-01.txt: no .json with the true state beside it" in result.err


def test_a_folder_without_frames_is_refused(fan: Fan, folder: Path) -> None:
    """No folder, no frames of a known agent, a label that is none: one sentence each, exit code 1."""
    assert "there is no folder" in fan.run("recipe", "score", str(folder / "none")).err
    (folder / "demo" / "rest-01.json").write_text("[1]")
    result = fan.run("recipe", "score", str(folder))
    assert (result.code, result.out) == (1, "")
    assert "rest-01.txt or the .json beside it is no recorded screen" in result.err
    shutil.move(folder / "demo", folder / "nobody")
    assert "only of nobody" in fan.run("recipe", "score", str(folder)).err
