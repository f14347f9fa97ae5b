"""Rest that has held."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fan.core.stillness import Stillness, observe, settled, settles_at

LOOKS = st.lists(st.tuples(st.floats(0.01, 0.5), st.sampled_from("ab")), min_size=1, max_size=30)


def after(*looks: tuple[float, str]) -> Stillness:
    """The stillness after looks at these times."""
    seen: Stillness | None = None
    for at, still in looks:
        seen = observe(seen, still, at)
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("looks", "holds"),
    [
        ([(0.0, "a")], False),
        ([(0.0, "a"), (0.7, "a")], True),
        ([(0.0, "a"), (0.69, "a")], False),
        ([(0.0, "a"), (0.3, "b"), (0.8, "b")], False),
        ([(0.0, "a"), (0.3, "b"), (0.6, "a"), (1.0, "a")], False),
        ([(0.0, "a"), (0.1, "a"), (0.15, "a")], False),
        ([(0.0, "a"), (0.3, "b"), (1.1, "b")], True),
        ([(50.0, "a"), (1.0, "a"), (1.3, "a")], False),
    ],
)
def test_two_looks_apart_and_700_ms(looks: list[tuple[float, str]], holds: bool) -> None:
    """One look is none; a change, or a clock set back, begins anew."""
    assert settled(after(*looks), looks[-1][0]) is holds


def test_one_old_look_is_not_enough() -> None:
    """Time alone settles nothing: two looks 200 ms apart must have seen it."""
    assert not settled(after((0.0, "a")), 10.0)
    assert not settled(after((0.0, "a"), (0.1, "a")), 10.0)


@given(LOOKS)
def test_settled_means_that_every_look_of_700_ms_was_alike(steps: list[tuple[float, str]]) -> None:
    """Whenever it counts as settled, all looks of the last 700 ms saw the same, and there were two."""
    at, looks, seen = 0.0, list[tuple[float, str]](), None
    for passed, still in steps:
        at += passed
        looks.append((at, still))
        seen = observe(seen, still, at)
        if settled(seen, at):
            alike = [when for when, what in looks if when >= seen.since]
            assert {what for when, what in looks if when >= seen.since} == {still}
            assert alike[-1] - alike[0] >= 0.2
            assert at - seen.since >= 0.7


@given(LOOKS)
def test_the_moment_foretold_is_the_first_at_which_a_look_settles_it(pauses: list[tuple[float, str]]) -> None:
    """A further look then finds it settled, one a little earlier does not: no second look is waited for.

    Fails if it is foretold later or earlier by a hundredth of a second.
    """
    at, looks = 0.0, []
    for pause, still in pauses:
        at += pause
        looks.append((at, still))
    when, last = settles_at(after(*looks)), looks[-1]
    if when > last[0] + 0.02:
        assert settled(after(*looks, (when + 0.001, last[1])), when + 0.001)
        assert not settled(after(*looks, (when - 0.01, last[1])), when - 0.01)
    else:
        assert settled(after(*looks, (last[0] + 0.03, last[1])), last[0] + 0.03)
