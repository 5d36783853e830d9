from __future__ import annotations

import pytest

from nanobench.scoring.statistics.sampling import runs_needed


@pytest.mark.parametrize(("tier", "runs"), [(1, 1), (2, 1), (3, 5), (4, 5)])
def test_tiers_one_and_two_run_once_and_three_and_four_five_times(tier: int, runs: int) -> None:
    assert runs_needed(tier) == runs
