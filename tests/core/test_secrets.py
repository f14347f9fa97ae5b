"""Masking of secrets."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.secrets import found_words, masked, quoted

KEYS = [
    "sk-" + "a1B2" * 6,
    "sk-proj-" + "x_-9" * 8,
    "ghp_" + "A1b2C3" * 6,
    "github_pat_" + "11AA_" * 6,
    "glpat-" + "abcdefgh12345678",
    "xoxb-" + "123456789012-abc",
    "AKIA" + "ABCDEFGH12345678",
    "ASIA" + "ABCDEFGH12345678",
    "sk_live_" + "a1B2" * 6,
    "rk_test_" + "a1B2" * 6,
    "hf_" + "a1B2c" * 7,
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
        "task_live_aaaaaaaaaaaaaaaaaaaaaaaa",
        "https://host:8080/a@b",
        "ssh://git@host:22/x",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    """Red when `sk-` may stand inside of a word: branch names such as `task-...` would be starred out."""
    assert masked(text) == text


def test_a_bearer_token_is_masked_and_the_word_stays() -> None:
    """Only the token goes."""
    assert masked("Authorization: Bearer abcdefghijklmnop0123==") == f"Authorization: Bearer {'*' * 22}"


@pytest.mark.parametrize("who", ["user:pass", "user:p@ss:w", ":token"])
def test_a_password_in_an_address_is_masked_and_the_host_stays(who: str) -> None:
    """With the name before it, which is often the token."""
    assert masked(f"git clone https://{who}@host.example/x.git") == (
        f"git clone https://{'*' * len(who)}@host.example/x.git"
    )


@given(st.text(), st.sampled_from(KEYS[:5]), st.text(st.characters(categories=["Po", "Zs"])))
def test_masking_keeps_length_and_settles(before: str, key: str, after: str) -> None:
    """Masked once is masked: positions do not move and nothing is masked further."""
    text = f"{before} {key}{after}"
    assert len(masked(text)) == len(text)
    assert masked(masked(text)) == masked(text)
    assert key not in masked(text)


def test_words_that_a_pattern_found_are_masked_before_they_are_cut() -> None:
    """On one line, control and direction characters written out; a secret that the pattern cuts in two, or that
    begins before it, is masked all the same. What a pattern has not found is nothing.

    Red when the words are cut out first: half of a secret has no known shape.
    """
    text = f"run  deploy\u202e --key={KEYS[0]} now"
    assert quoted(text) == f"run deploy\\u202e --key={'*' * len(KEYS[0])} now"
    assert found_words(re.search("run (.{24})", text)) == "deploy\\u202e --key=" + "*" * 9
    assert found_words(re.search(r"(\w{6}) now", text)) == "*" * 6
    assert found_words(re.search("key", text), 0) == "key"
    assert found_words(re.search("run( never)?", text)) == ""
    assert found_words(None) == ""
