"""Names of groups, branches, sessions and folders."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.naming import (
    ID_LETTERS,
    blocking_branch,
    branches,
    free_stem,
    natural,
    new_id,
    session_name,
    slug,
    stem_of,
    worktree_folder,
)

ROOT = Path("/home/p/api")
ANY = st.text(st.characters(exclude_categories=["Cs"]))
NAMES = st.text(st.sampled_from("ab/-_.:1é "), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("prompt", "stem"),
    [
        ("Add a retry with backoff to the HTTP client.", "fan/add-retry-backoff-http"),
        ("FIX the bug", "fan/fix-bug"),
        ("the a to of", "fan/prompt"),
        ("", "fan/prompt"),
        ("!!! ... ☃", "fan/prompt"),
        ("Ärger mit Öl prüfen", "fan/ärger-mit-öl-prüfen"),
        ("A\u0308rger", "fan/ärger"),
        ("修复 登录 错误", "fan/修复-登录-错误"),
        ("snake_case name", "fan/snake-case-name"),
        ("$(touch x); `rm` #{pane}", "fan/touch-x-rm-pane"),
        ("internationalisation configuration management", "fan/internationalisation"),
        ("x" * 50, "fan/" + "x" * 32),
        ("語" * 40, "fan/" + "語" * 20),
        ("one two three four five", "fan/one-two-three-four"),
    ],
)
def test_a_stem_is_the_first_content_words(prompt: str, stem: str) -> None:
    """Four words in lower case and NFC without stop words, at most 32 characters and 60 bytes, cut at a hyphen."""
    assert stem_of(prompt) == stem


@given(ANY)
def test_a_stem_is_bounded_and_plain(prompt: str) -> None:
    """Whatever the prompt, the stem has only letters, digits and single hyphens, within its bounds."""
    prefix, _, words = stem_of(prompt).partition("/")
    assert prefix == "fan"
    assert re.fullmatch(r"[^\W_]+(-[^\W_]+)*", words)
    assert len(words) <= 32
    assert len(words.encode()) <= 60
    assert unicodedata.is_normalized("NFC", words)
    assert stem_of(prompt) == stem_of(unicodedata.normalize("NFD", unicodedata.normalize("NFC", prompt)))


def test_a_living_group_keeps_its_stem() -> None:
    """The next automatic stem gets a letter from `b` on, beyond `z` two of them."""
    assert free_stem("fan/x", ()) == "fan/x"
    assert free_stem("fan/x", {"fan/x"}) == "fan/x-b"
    assert free_stem("fan/x", {"fan/x", "fan/x-b"}) == "fan/x-c"
    taken = {"fan/x", *(f"fan/x-{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")}
    assert free_stem("fan/x", taken) == "fan/x-aa"


def test_branches_are_numbered_and_taken_numbers_are_skipped() -> None:
    """stem, stem-2, stem-3, ...; what is taken, the stem itself too, costs only its own number."""
    assert branches("fan/x", 3, set[str]().__contains__) == ["fan/x", "fan/x-2", "fan/x-3"]
    assert branches("fan/x", 3, {"fan/x", "fan/x-3"}.__contains__) == ["fan/x-2", "fan/x-4", "fan/x-5"]


@given(st.integers(0, 12), st.sets(st.integers(1, 12)))
def test_branches_are_free_and_different(count: int, numbers: set[int]) -> None:
    """As many as asked for, none twice, none of those taken."""
    taken = {"s" if number == 1 else f"s-{number}" for number in numbers}
    found = branches("s", count, taken.__contains__)
    assert len(found) == len(set(found)) == count
    assert not taken & set(found)


@pytest.mark.parametrize(
    ("branch", "existing", "blocker"),
    [
        ("topic/1", {"topic", "main"}, "topic"),
        ("topic", {"topic/old/x"}, "topic/old/x"),
        ("fan/x", {"fan"}, "fan"),
        ("fan/x", {"fan/x-2", "fa", "fan2", "fan/x"}, None),
        ("a/b/c", {"a/b"}, "a/b"),
    ],
)
def test_a_branch_that_cannot_stand_beside_another_is_found(
    branch: str, existing: set[str], blocker: str | None
) -> None:
    """B007: git keeps branches as paths, so one cannot be a folder of the other; equal and similar names are fine."""
    assert blocking_branch(branch, existing) == blocker


def test_a_session_is_named_for_repository_and_branch() -> None:
    """Every run outside letters, digits and `_` is one `-`; the root's hash is added only on a collision."""
    name = session_name("api", "fan/add-retry-backoff-http-2", ROOT, set[str]().__contains__)
    assert name == "api-fan-add-retry-backoff-http-2"
    assert session_name("site.example.org", "v1.2:b", ROOT, set[str]().__contains__) == "site-example-org-v1-2-b"
    one, two = (session_name("api", "x", root, {"api-x"}.__contains__) for root in (ROOT, Path("/srv/api")))
    assert re.fullmatch("api-x-[0-9a-f]{4}", one)
    assert one != two


@given(ANY)
def test_a_slug_is_safe_for_tmux_and_as_a_folder(text: str) -> None:
    """No dot, colon, slash or blank, never empty, no hyphen at an end (a name must not look like an option)."""
    found = slug(text)
    assert re.fullmatch(r"\w+(-\w+)*", found)
    assert slug(found) == found


def test_folders_of_two_repositories_of_one_name_are_apart() -> None:
    """B010: the root's hash is part of the folder; a root whose name is no UTF-8 has one too."""
    base = Path("/data")
    one = worktree_folder(base, "api", ROOT, "fan/x")
    assert one.parent.parent == base
    assert one.name == "fan-x"
    assert one.parent != worktree_folder(base, "api", Path("/srv/api"), "fan/x").parent
    assert worktree_folder(base, "\udcff", Path("/srv/\udcff"), "x").parent.parent == base


def test_an_id_begins_with_a_letter() -> None:
    """Eight signs without the ones that are mixed up; a letter first, so that it is never a number."""
    assert new_id(lambda signs: signs[-1]) == "z9999999"
    assert new_id(lambda signs: signs[0])[0] in ID_LETTERS
    assert not set("ilo01") & set(new_id(lambda signs: signs[0]))


def test_numbers_in_names_sort_as_numbers() -> None:
    """`x-10` comes after `x-9`, and a bare stem first."""
    names = ["x-10", "x", "x-9", "y-1", "x-2"]
    assert sorted(names, key=natural) == ["x", "x-2", "x-9", "x-10", "y-1"]


@given(st.lists(ANY))
def test_any_names_can_be_sorted(names: list[str]) -> None:
    """Red when `²` counts as a number: `int` refuses it, and `fan ls` would end in a traceback."""
    found = sorted([*names, "fan/2²", "x²"], key=natural)
    assert all(natural(before) <= natural(after) for before, after in pairwise(found))


@given(NAMES, NAMES)
def test_two_sessions_never_share_a_name(one: str, two: str) -> None:
    """In two repositories of one name the second session is named otherwise."""
    first = session_name("r", one, ROOT, set[str]().__contains__)
    assert session_name("r", two, Path("/other"), {first}.__contains__) != first
