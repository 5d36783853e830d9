from __future__ import annotations

from math import comb

import pytest

from nanobench.scoring.statistics.paired import mcnemar
from nanobench.scoring.statistics.power import ALPHA, FLOOR, POWER, detectable_difference, significant


def test_the_floor_is_where_a_claim_becomes_possible_at_all() -> None:
    assert mcnemar(gained=FLOOR, lost=0) <= ALPHA < mcnemar(gained=FLOOR - 1, lost=0)


def test_below_the_floor_nothing_is_claimed_however_small_p_is() -> None:
    assert not significant(0.0, FLOOR - 1)
    assert significant(ALPHA, FLOOR)
    assert not significant(0.0501, 1000)


@pytest.mark.parametrize("tasks", [6, 7, 12, 50, 113, 500])
def test_the_detectable_difference_is_found_four_times_in_five(tasks: int) -> None:
    share = detectable_difference(tasks)
    assert share is not None
    fewer = sum(comb(tasks, k) * share**k * (1 - share) ** (tasks - k) for k in range(FLOOR))
    assert 1 - fewer == pytest.approx(POWER, abs=1e-9)


def test_it_shrinks_with_the_number_of_tasks_and_has_a_floor() -> None:
    found = [detectable_difference(n) or 0.0 for n in range(FLOOR, 60)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(POWER ** (1 / 6))  # all six must turn
    assert detectable_difference(FLOOR - 1) is None
