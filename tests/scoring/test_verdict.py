"""Both rules must say the same, and say it of the same direction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.scoring.statistics.paired import PairedTest
from nanobench.scoring.statistics.quantities import Rate
from nanobench.scoring.verdict import Verdict, Word, verdict_of

RATES = st.integers(1, 60).flatmap(lambda n: st.builds(Rate, st.integers(0, n), st.just(n)))
LOW, HIGH, MIDDLE = Rate(1, 40), Rate(39, 40), Rate(20, 40)


def said(before: Rate, after: Rate, *, rose: float = 0.0, corrected: float = 0.001, tasks: int = 20) -> Verdict:
    test = PairedTest(test="paired permutation", n=tasks, p=corrected / 2)
    return verdict_of(before, after, rose=rose, test=test, corrected=corrected)


@pytest.mark.parametrize(
    ("before", "after", "rose", "corrected", "tasks", "word"),
    [
        (LOW, HIGH, 3.0, 0.05, 6, Word.MORE),
        (HIGH, LOW, -3.0, 0.05, 6, Word.LESS),
        (LOW, HIGH, 3.0, 0.0501, 6, Word.NOISE),
        (LOW, HIGH, 3.0, 0.0, 5, Word.NOISE),
        (LOW, HIGH, -3.0, 0.0, 20, Word.NOISE),  # runs say more, tasks say less
        (MIDDLE, MIDDLE, 3.0, 0.0, 20, Word.NOISE),
        (LOW, HIGH, 0.0, 0.0, 20, Word.NOISE),
    ],
)
def test_the_word(before: Rate, after: Rate, rose: float, corrected: float, tasks: int, word: Word) -> None:
    assert said(before, after, rose=rose, corrected=corrected, tasks=tasks).word is word


def test_where_the_rules_disagree_it_says_which_said_what() -> None:
    found = said(LOW, HIGH, rose=-3.0)
    assert found.intervals == "intervals over runs are apart, after above before"
    assert found.pairs == "paired permutation over 20 tasks says less (p 0.0005, corrected 0.0010)"


@given(RATES, RATES, st.floats(-9, 9), st.floats(0, 1), st.integers(1, 40))
def test_a_difference_is_never_claimed_by_one_rule_alone(
    before: Rate, after: Rate, rose: float, corrected: float, tasks: int
) -> None:
    there = said(before, after, rose=rose, corrected=corrected, tasks=tasks)
    back = said(after, before, rose=-rose, corrected=corrected, tasks=tasks)
    turned = {Word.MORE: Word.LESS, Word.LESS: Word.MORE, Word.NOISE: Word.NOISE}
    assert back.word is turned[there.word]
    if there.word is not Word.NOISE:
        assert not before.interval.overlaps(after.interval)
        assert corrected <= 0.05 and tasks >= 6
