"""The stash's rules: names that can do no harm, and what goes when a room is full."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from fan.core import stash
from fan.core.stash import LARGEST_ROOM, LONGEST_NAME, Stashed, evicted, folder_of, safe_name

MB = 1024 * 1024


@given(st.text(alphabet=st.characters(), max_size=300))
def test_a_kept_file_is_called_by_a_name_of_ours(name: str) -> None:
    """Whatever a file was called, its name is one plain word that no shell, path or option takes for more.

    Goes red when a separator, a dot at the start, or a character outside of the set gets through.
    """
    safe = safe_name(name)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", safe), safe
    assert len(safe) <= LONGEST_NAME


def test_names_stay_readable() -> None:
    """The ending is kept, also of a name that is cut."""
    assert safe_name("report v2.tar") == "report_v2.tar"
    assert safe_name("../../etc/passwd") == "etc_passwd"
    assert safe_name("x" * 300 + ".png").endswith("x.png")
    assert [safe_name(name) for name in ("", "...", "-rf", "é")] == ["file", "file", "rf", "file"]


@given(st.text(max_size=80))
def test_a_room_s_folder_is_one_plain_word(room: str) -> None:
    """A room of a repository holds a path; its folder does not."""
    assert re.fullmatch(r"[a-z0-9-]{1,64}", folder_of(room))


def test_two_rooms_never_share_a_folder() -> None:
    """A room cannot be called like the folder of another."""
    other = folder_of("repo:/a")
    assert folder_of(other) != other
    assert folder_of("human") == "human"


@given(
    st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=12),
    st.integers(1, 16),
)
def test_the_oldest_go_and_never_one_that_is_pointed_at(sizes: list[tuple[int, bool]], new: int) -> None:
    """As few as needed go, the oldest first; what a message points to stays, or the new one is refused."""
    kept = [Stashed("r", f"{number:064x}", "f", size * MB, float(number)) for number, (size, _) in enumerate(sizes)]
    pointed = {one.sha256 for one, (_, held) in zip(kept, sizes, strict=True) if held}
    going = evicted(kept, pointed, new * MB)
    held = sum(one.size for one in kept if one.sha256 in pointed)
    if going is None:
        assert held + new * MB > LARGEST_ROOM
        return
    free = [one for one in kept if one.sha256 not in pointed]
    assert going == free[: len(going)]
    left = sum(one.size for one in kept) - sum(one.size for one in going) + new * MB
    assert left <= LARGEST_ROOM
    assert not going or left + going[-1].size > LARGEST_ROOM
    assert stash.LARGEST_FILE == 16 * MB
