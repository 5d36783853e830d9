from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.scoring.statistics.correction import benjamini_hochberg

# fmt: off
PUBLISHED = (0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
             0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000)
# fmt: on
"""The fifteen hypotheses of section 4.1 of Benjamini and Hochberg (1995)."""


def test_the_published_example_claims_its_first_four() -> None:
    corrected = benjamini_hochberg(PUBLISHED)
    assert [p <= 0.05 for p in corrected] == [True] * 4 + [False] * 11
    assert corrected[3] == pytest.approx(0.0095 * 15 / 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.001, 0.5))
def test_it_claims_what_the_step_up_procedure_claims(ps: list[float], level: float) -> None:
    ranked = sorted(ps)
    most = max((i for i, p in enumerate(ranked, 1) if p * len(ps) / i <= level), default=0)
    claimed = [p <= level for p in benjamini_hochberg(ps)]
    assert claimed == [bool(most) and p <= ranked[most - 1] for p in ps]


def test_one_alone_is_not_corrected_and_none_is_nothing() -> None:
    assert benjamini_hochberg([0.03]) == (0.03,)
    assert benjamini_hochberg([]) == ()
