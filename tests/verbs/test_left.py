"""What is said of those that a verb had to leave as they were."""

from __future__ import annotations

from fan.errors import FanError
from fan.verbs.left import Left, exit_code


def test_a_refusal_is_told_whole_and_nothing_is_made_up() -> None:
    """What was refused, what was not done and the next command, each only where there is one.

    Red when a refusal without a next command ends in an empty `next:`.
    """
    assert Left.because("api-x", FanError("it is locked", not_done="nothing was removed", hint="fan ls")) == Left(
        "api-x", "it is locked; nothing was removed; next: fan ls"
    )
    assert Left.because("k3j4h2l1", FanError("git refused")).reason == "git refused"


def test_the_exit_code_tells_all_some_and_none() -> None:
    """0 all of it happened, 1 none of it, 5 some; nothing to do is all of it."""
    left = [Left("api-x", "it is locked")]
    assert (exit_code(["done"], []), exit_code([], [])) == (0, 0)
    assert (exit_code([], left), exit_code(["done"], left)) == (1, 5)
