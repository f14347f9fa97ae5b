"""What is wrong with a file is said in a person's words."""

from __future__ import annotations

import msgspec
import pytest

from fan.core.complaint import complaint
from fan.core.setup import Keys


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({"copy": "x"}, "`copy`: it must be a list, not text"),
        ({"ports": "many"}, "`ports`: it must be a whole number, not text"),
        ({"copi": []}, "there is no key `copi`"),
        ({"setup": [1]}, "`setup[0]`: it must be text, not a whole number"),
        ({"ports": 5000}, "`ports` must be 0 to 1000"),
    ],
)
def test_a_wrong_value_is_told_by_its_key(found: dict[str, object], told: str) -> None:
    """No word of the library that checks comes out. Red when its text is printed as it is."""
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(found, Keys)
    assert complaint(raised.value) == told


def test_the_system_s_number_is_left_out() -> None:
    """A file that is not there is told in words alone."""
    with pytest.raises(OSError, match="nope") as raised:
        open("/nope/nope")  # noqa: PTH123, SIM115
    assert complaint(raised.value) == "No such file or directory"
