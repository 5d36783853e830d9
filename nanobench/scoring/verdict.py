"""May two sides be called different? Only if both rules of section 7 say so."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from nanobench.scoring.statistics.paired import PairedTest
from nanobench.scoring.statistics.power import FLOOR, significant
from nanobench.scoring.statistics.quantities import Rate, p_value


class Word(StrEnum):
    """What is said of a contrast, of ``after`` against ``before``."""

    MORE = "solves more"
    LESS = "solves less"
    NOISE = "not distinguishable from noise"


@frozen(kw_only=True)
class Verdict:
    """The word, and what each of the two rules said."""

    word: Word
    intervals: str
    pairs: str

    def __str__(self) -> str:
        return f"{self.word}: {self.intervals}; {self.pairs}"


def verdict_of(before: Rate, after: Rate, *, rose: float, test: PairedTest, corrected: float) -> Verdict:
    """Both rules together.

    Args:
        before, after: solved of valid runs.
        rose: the sum of the paired differences over tasks, after less before.
        test: the paired test of those differences.
        corrected: its p, corrected for all contrasts.
    """
    runs = _by_intervals(before, after)
    pairs = rose if significant(corrected, test.n) else 0.0
    agree = runs * pairs > 0
    return Verdict(
        word=(Word.MORE if runs > 0 else Word.LESS) if agree else Word.NOISE,
        intervals=f"intervals over runs {_SAID[runs]}",
        pairs=_of_pairs(test, corrected, pairs),
    )


_SAID = {0: "overlap", 1: "are apart, after above before", -1: "are apart, after below before"}


def _by_intervals(before: Rate, after: Rate) -> int:
    if before.interval.overlaps(after.interval):
        return 0
    return 1 if after.interval.low > before.interval.high else -1


def _of_pairs(test: PairedTest, corrected: float, claimed: float) -> str:
    what = f"{test.test} over {test.n} {'task' if test.n == 1 else 'tasks'}"
    if test.n < FLOOR:
        return f"{what} claims nothing: no significance below {FLOOR} tasks"
    said = "says more" if claimed > 0 else "says less" if claimed < 0 else "is not significant"
    return f"{what} {said} (p {p_value(test.p)}, corrected {p_value(corrected)})"
