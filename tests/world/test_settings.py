"""Settings and where each came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from fan.errors import BadSetting
from fan.world.settings import FILE, Values, load


def test_without_a_file_all_are_built_in(tmp_path: Path) -> None:
    """A missing folder is no error."""
    found = load(tmp_path / "none", {})
    assert found.values == Values()
    assert found.values.max_members == 64
    assert found.values.patience == 600.0
    assert set(found.origins.values()) == {"built-in"}
    assert set(found.origins) == set(Values.__struct_fields__)


def test_the_environment_goes_over_the_file(tmp_path: Path) -> None:
    """Each value has the origin that decided it; an empty variable is none."""
    (tmp_path / FILE).write_text("max_members = 8\npatience = 30\n")
    found = load(tmp_path, {"FAN_PATIENCE": "2.5", "FAN_TRASH_DAYS": "", "FAN_OTHER": "x", "PATIENCE": "9"})
    assert (found.values.max_members, found.values.patience, found.values.trash_days) == (8, 2.5, 7.0)
    assert found.origins["max_members"] == str(tmp_path / FILE)
    assert found.origins["patience"] == "FAN_PATIENCE"
    assert found.origins["trash_days"] == "built-in"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 1", "colour"),
        ("patience = [", FILE),
        ("patience = 'soon'", "patience"),
        ("max_members = 2.5", "max_members"),
        ("trash_days = -1", "`trash_days` must not be below 0"),
        ("max_members = 0", "`max_members` must not be below 1"),
        ("port_base = 0", "`port_base` must not be below 1"),
        ("port_base = 65536", "`port_base` must not be above 65535"),
        ("patience = nan", "`patience` must not be"),
        ("notify = 'bell, loudly'", "not loudly"),
        ("patience = 1 # \udcff", FILE),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    """Unknown key, broken TOML, wrong type, out of bounds, no UTF-8: file and reason are in the message."""
    (tmp_path / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadSetting) as refused:
        load(tmp_path, {})
    assert str(tmp_path / FILE) in refused.value.message
    assert words in refused.value.message
    assert refused.value.not_done


@pytest.mark.parametrize("value", ["soon", "-3", "1,5"])
def test_a_bad_variable_is_named(tmp_path: Path, value: str) -> None:
    """Not only the setting: where it came from."""
    with pytest.raises(BadSetting) as refused:
        load(tmp_path, {"FAN_MAX_MEMBERS": value})
    assert "FAN_MAX_MEMBERS" in refused.value.message


def test_a_bad_file_is_named_even_when_the_environment_overrides_it(tmp_path: Path) -> None:
    """A mistake is not hidden by luck."""
    (tmp_path / FILE).write_text("patience = 'soon'")
    with pytest.raises(BadSetting):
        load(tmp_path, {"FAN_PATIENCE": "3"})
