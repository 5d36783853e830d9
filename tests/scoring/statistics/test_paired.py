"""Paired tests against published values and against every way to swap the sides."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.scoring.statistics.paired import mcnemar, paired_test, permutation

MAIZE = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
"""Darwin's maize, cross- less self-fertilised, in eighths of an inch."""

FIFTHS = st.lists(st.integers(-5, 5), min_size=1, max_size=9)


def swapped(differences: list[int]) -> Fraction:
    """The share of all swaps whose sum is at least as far from zero."""
    seen = abs(sum(differences))
    sums: list[int] = [sum(signed) for signed in product(*((d, -d) for d in differences))]
    return Fraction(sum(abs(s) >= seen for s in sums), len(sums))


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [
        (121, 59, 0.000004),
        (70, 59, 0.378688),
        (80, 59, 0.089452),
        (30, 60, 0.00206),
        (10, 30, 0.002221),
        (10, 10, 1.0),
    ],
)
def test_mcnemar_is_that_of_vassarstats(gained: int, lost: int, p: float) -> None:
    # The values that statsmodels holds its own against (test_contingency: test_mcnemar_exact), six decimal places.
    assert mcnemar(gained=gained, lost=lost) == pytest.approx(p, abs=6e-7)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_counts_the_ways_to_fall(gained: int, lost: int) -> None:
    turned = gained + lost
    tail = Fraction(sum(comb(turned, k) for k in range(min(gained, lost) + 1)), 2**turned)
    assert mcnemar(gained=gained, lost=lost) == pytest.approx(min(1.0, 2 * float(tail)), rel=1e-9)


def test_permutation_is_fishers_own() -> None:
    # The Design of Experiments (1935), section 21: 1,726 of the 32,768 ways, 5.267 per cent.
    assert permutation(MAIZE) == pytest.approx(1726 / 32768, abs=1e-12)
    assert f"{100 * permutation(MAIZE):.3f}" == "5.267"


@settings(max_examples=60)
@given(FIFTHS)
def test_permutation_looks_at_every_swap(fifths: list[int]) -> None:
    assert permutation([d / 5 for d in fifths]) == pytest.approx(float(swapped(fifths)), abs=1e-12)


@settings(max_examples=30)
@given(st.lists(st.sampled_from((-1, 0, 1)), min_size=1, max_size=14))
def test_both_tests_agree_where_every_value_is_0_or_1(turns: list[int]) -> None:
    exact = mcnemar(gained=turns.count(1), lost=turns.count(-1))
    assert permutation([float(t) for t in turns]) == pytest.approx(exact, abs=1e-12)


def test_many_tasks_are_drawn_and_come_close() -> None:
    turns = [1.0] * 24 + [-1.0] * 10
    assert permutation(turns) == pytest.approx(mcnemar(gained=24, lost=10), abs=0.01)
    assert permutation(turns) == permutation(turns)


def test_single_runs_are_tested_by_mcnemar_and_means_by_permutation() -> None:
    before = {f"t{i}": 1.0 for i in range(6)}
    lost = paired_test(before, dict.fromkeys(before, 0.0))
    weaker = paired_test(before, dict.fromkeys(before, 0.6))
    assert (lost.test, lost.n) == ("exact McNemar", 6)
    assert (weaker.test, weaker.n) == ("paired permutation", 6)
    assert [lost.p, weaker.p] == pytest.approx([0.03125, 0.03125])


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_the_order_of_the_sides_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    one = {f"t{i}": a / 5 for i, (a, _) in enumerate(pairs)}
    other = {f"t{i}": b / 5 for i, (_, b) in enumerate(pairs)}
    assert paired_test(one, other).p == pytest.approx(paired_test(other, one).p, abs=1e-12)
