"""Masking of secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.secrets import masked

KEYS = [
    "sk-" + "a1B2" * 6,
    "sk-proj-" + "x_-9" * 8,
    "ghp_" + "A1b2C3" * 6,
    "github_pat_" + "11AA_" * 6,
    "glpat-" + "abcdefgh12345678",
    "xoxb-" + "123456789012-abc",
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + "Sy" * 18,
    "npm_" + "a1" * 18,
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + "c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\ncut off",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "KEY={}", "key_{} rest", '"{}"'])
def test_a_known_shape_is_masked_whole(key: str, around: str) -> None:
    """Nothing of a well-known secret is left, and as many signs stand for it."""
    shown = masked(around.format(key))
    before, _, after = around.partition("{}")
    assert shown.startswith(before)
    assert set(shown[len(before) : len(before) + len(key)]) == {"*"}
    if "cut off" not in key:
        assert shown == before + "*" * len(key) + after


@pytest.mark.parametrize(
    "text",
    [
        "fan/task-management-review-page-2",
        "risk-assessment-of-the-new-client",
        "sk-short",
        "ghp_short",
        "bearer of bad news",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    """Red when `sk-` may stand inside of a word: branch names such as `task-...` would be starred out."""
    assert masked(text) == text


def test_a_bearer_token_is_masked_and_the_word_stays() -> None:
    """Only the token goes."""
    assert masked("Authorization: Bearer abcdefghijklmnop0123==") == f"Authorization: Bearer {'*' * 22}"


@given(st.text(), st.sampled_from(KEYS[:5]), st.text(st.characters(categories=["Po", "Zs"])))
def test_masking_keeps_length_and_settles(before: str, key: str, after: str) -> None:
    """Masked once is masked: positions do not move and nothing is masked further."""
    text = f"{before} {key}{after}"
    assert len(masked(text)) == len(text)
    assert masked(masked(text)) == masked(text)
    assert key not in masked(text)
