from __future__ import annotations

from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.scoring.statistics.passes import pass_at_k, pass_hat_k

RUNS = st.lists(st.booleans(), min_size=1, max_size=9)
RUNS_AND_K = RUNS.flatmap(lambda runs: st.tuples(st.just(runs), st.integers(1, len(runs))))


@given(RUNS_AND_K)
def test_both_are_shares_of_all_ways_to_choose_k_runs(drawn: tuple[list[bool], int]) -> None:
    runs, k = drawn
    chosen = list(combinations(runs, k))
    assert pass_at_k(sum(runs), len(runs), k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_hat_k(sum(runs), len(runs), k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@pytest.mark.parametrize(("passed", "n", "k"), [(3, 10, 5), (20, 200, 1), (20, 200, 10), (20, 200, 100)])
def test_pass_at_k_is_the_product_of_the_paper(passed: int, n: int, k: int) -> None:
    # Chen et al. (2021), figure 3: 1 − ∏ (1 − k/i) for i from n − c + 1 to n.
    assert pass_at_k(passed, n, k) == pytest.approx(1 - prod(1 - k / i for i in range(n - passed + 1, n + 1)))


def test_a_published_figure() -> None:
    assert f"{100 * pass_at_k(3, 10, 5):.2f}" == "91.67"  # 1 − C(7, 5)/C(10, 5) = 1 − 21/252


def test_of_many_runs_too() -> None:
    assert pass_at_k(1, 10_000, 10_000) == 1.0
    assert pass_hat_k(9_999, 10_000, 10_000) == 0.0


@pytest.mark.parametrize(("passed", "n", "k"), [(1, 2, 3), (3, 2, 1), (0, 0, 1), (1, 2, 0)])
def test_more_runs_than_there_are_is_an_error(passed: int, n: int, k: int) -> None:
    with pytest.raises(ValueError, match="runs"):
        pass_at_k(passed, n, k)
    with pytest.raises(ValueError, match="runs"):
        pass_hat_k(passed, n, k)
