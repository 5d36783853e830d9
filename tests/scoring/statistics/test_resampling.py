"""The bootstrap against every resample there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import factorial, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.scoring.statistics.resampling import mean, navigation_delta, paired_difference

MOUSE = (94, 197, 16, 38, 99, 141, 23)
"""Survival of the treated mice: Efron and Tibshirani, An Introduction to the Bootstrap (1993), table 2.1."""

SHARES = st.lists(st.integers(0, 5).map(lambda k: k / 5), min_size=2, max_size=12)


def distribution(values: Sequence[float]) -> list[tuple[float, float]]:
    """Mean and probability of every resample, by the multinomial distribution."""
    n = len(values)
    return [
        (
            sum(values[i] for i in drawn) / n,
            factorial(n) / prod(factorial(count) for count in Counter(drawn).values()) / n**n,
        )
        for drawn in combinations_with_replacement(range(n), n)
    ]


def test_the_interval_cuts_off_as_much_as_it_says() -> None:
    found, exact = mean(MOUSE), distribution(MOUSE)
    assert sum(p for _, p in exact) == pytest.approx(1)
    assert (round(found.value, 2), found.n) == (86.86, 7)  # table 2.1
    assert found.interval is not None
    below = sum(p for value, p in exact if value < found.interval.low)
    above = sum(p for value, p in exact if value > found.interval.high)
    assert [below, above] == pytest.approx([0.025, 0.025], abs=0.005)


def test_the_same_values_give_the_same_interval() -> None:
    assert mean(MOUSE) == mean(MOUSE)


@settings(max_examples=20)
@given(SHARES)
def test_the_interval_lies_within_the_values_and_holds_the_mean(values: list[float]) -> None:
    found = mean(values)
    assert found.interval is not None
    assert min(values) - 1e-9 <= found.interval.low <= found.interval.high <= max(values) + 1e-9
    assert found.interval.low - 1e-9 <= found.value <= found.interval.high + 1e-9


def test_one_value_has_no_interval() -> None:
    assert mean([0.5]).interval is None


def test_tasks_are_drawn_with_both_of_their_values() -> None:
    # Whatever is drawn, each task lost a tenth: drawn apart, the two sides would vary by more.
    before = {f"t{i}": i / 10 for i in range(10)}
    found = paired_difference(before, {task: value - 0.1 for task, value in before.items()})
    assert str(found) == "-0.100 [-0.100, -0.100] (n = 10)"


def test_the_navigation_delta_is_what_finding_costs() -> None:
    found = navigation_delta(hinted={"a": 1.0, "b": 1.0}, navigation={"a": 0.0, "b": 1.0})
    assert (found.value, found.n) == (0.5, 2)


@pytest.mark.parametrize("after", [{"a": 1.0}, {"a": 1.0, "c": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}])
def test_other_tasks_on_the_other_side_are_an_error(after: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="same tasks"):
        paired_difference({"a": 1.0, "b": 0.0}, after)


def test_a_record_without_its_task_is_an_error() -> None:
    with pytest.raises(ValueError, match="id"):
        paired_difference({"": 1.0}, {"": 0.0})
