"""Wilson's interval against a published table and against its own formula in decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.scoring.statistics.quantities import Difference, Interval, Mean, Rate, decimal, wilson

Z = Decimal("1.959963984540054235524594430520551527955550")
"""The 97.5 % point of the normal distribution (OEIS A220510)."""

COUNTS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def by_formula(passed: int, n: int) -> tuple[Decimal, Decimal]:
    """Wilson (1927), solved for the two roots."""
    p, z2 = Decimal(passed) / n, Z * Z
    middle, half = p + z2 / (2 * n), Z * (p * (1 - p) / n + z2 / (4 * n * n)).sqrt()
    return (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        (81, 263, "0.2553", "0.3662"),
        (15, 148, "0.0624", "0.1605"),
        (0, 20, "0.0000", "0.1611"),
        (1, 29, "0.0061", "0.1718"),
    ],
)
def test_the_interval_is_that_of_newcombes_table(passed: int, n: int, low: str, high: str) -> None:
    # R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998)
    # 857–872, table I, method 3 (score, no continuity correction).
    found = wilson(passed, n)
    assert (decimal(found.low, 4), decimal(found.high, 4)) == (low, high)


@given(COUNTS)
def test_the_interval_is_wilsons_formula_to_the_printed_digits(counts: tuple[int, int]) -> None:
    found = wilson(*counts)
    assert (found.low, found.high) == pytest.approx(tuple(map(float, by_formula(*counts))), abs=1e-12)


@given(COUNTS)
def test_the_interval_holds_the_share_and_mirrors_its_complement(counts: tuple[int, int]) -> None:
    passed, n = counts
    one, other = wilson(passed, n), wilson(n - passed, n)
    assert one.low - 1e-12 <= passed / n <= one.high + 1e-12
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


@given(COUNTS)
def test_more_of_the_same_runs_narrow_the_interval(counts: tuple[int, int]) -> None:
    passed, n = counts
    once, twice = wilson(passed, n), wilson(2 * passed, 2 * n)
    assert twice.high - twice.low < once.high - once.low


def test_a_rate_says_its_counts_and_its_interval() -> None:
    assert str(Rate(18, 20)) == "18/20 = 90.0 % [69.9, 97.2]"
    assert Rate(18, 20).document() == {"passed": 18, "n": 20, "interval": ["0.699", "0.972"]}


def test_a_rate_has_no_bare_percentage() -> None:
    rate: Any = Rate(18, 20)
    for bare in (float, int, round):
        with pytest.raises(TypeError):
            bare(rate)
    with pytest.raises(TypeError):
        format(rate, ".0%")


def test_of_nothing_measured_nothing_is_said() -> None:
    assert Rate(0, 0).interval == Interval(0.0, 1.0)
    assert str(Rate(0, 0)) == "0/0 (nothing was measured)"


@pytest.mark.parametrize(("passed", "n"), [(3, 2), (-1, 2), (1, 0)])
def test_more_than_all_cannot_have_passed(passed: int, n: int) -> None:
    with pytest.raises(ValueError, match="cannot have passed"):
        Rate(passed, n)


def test_intervals_that_touch_overlap() -> None:
    assert Interval(0.1, 0.5).overlaps(Interval(0.5, 0.9))
    assert Interval(0.5, 0.9).overlaps(Interval(0.1, 0.5))
    assert not Interval(0.1, 0.4).overlaps(Interval(0.5, 0.9))


def test_a_mean_says_its_size_and_its_interval_or_that_it_has_none() -> None:
    assert str(Mean(12.4, 5, Interval(10.0, 15.25))) == "12.400 [10.000, 15.250] (n = 5)"
    assert str(Mean(12.4, 1, None)) == "12.400 [no interval] (n = 1)"
    assert str(Difference(0.25, 4, Interval(-0.5, 1.0))) == "+0.250 [-0.500, +1.000] (n = 4)"


def test_zero_has_no_sign() -> None:
    assert str(Difference(-1e-12, 4, Interval(-0.0004, 0.0))) == "0.000 [0.000, 0.000] (n = 4)"


def test_what_differs_between_processors_does_not_show() -> None:
    assert decimal(0.0625 - 1e-16) == decimal(0.0625) == decimal(0.0625 + 1e-16)
