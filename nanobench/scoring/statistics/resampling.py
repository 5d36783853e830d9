"""Intervals of means by the bootstrap: the observations are drawn again, with replacement, many times.

B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13: the percentile interval. It makes
no assumption about the shape, and is too narrow for a handful of observations: no verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import scipy

from nanobench.scoring.statistics.quantities import CONFIDENCE, Difference, Interval, Mean

SEED = 1
"""Of everything that is drawn; figures are to be found again."""

RESAMPLES = 9_999
AT_ONCE = 1_000_000
"""Numbers in memory, at most."""


def mean(values: Sequence[float]) -> Mean:
    """The mean of one value a task, with its bootstrap interval."""
    return Mean(float(np.mean(values)), len(values), _interval(tuple(values)))


def paired_difference(before: Mapping[str, float], after: Mapping[str, float]) -> Difference:
    """How much higher is ``after``, on average over tasks? Tasks are drawn, each with both of its values.

    Args:
        before, after: one value a task, of the same tasks.
    """
    found = differences(before, after)
    return Difference(float(np.mean(found)), len(found), _interval(tuple(found)))


def navigation_delta(hinted: Mapping[str, float], navigation: Mapping[str, float]) -> Difference:
    """How much of the share of solved runs is lost where the files must be found? Hinted less navigation."""
    return paired_difference(navigation, hinted)


def differences(before: Mapping[str, float], after: Mapping[str, float]) -> list[float]:
    """After less before, task by task in the order of their ids.

    Raises:
        ValueError: the tasks are not the same, there is none, or one has no id.
    """
    if before.keys() != after.keys() or not before or "" in before:
        raise ValueError("a paired comparison needs the same tasks on both sides, each with its id")
    return [after[task] - before[task] for task in sorted(before)]


@lru_cache(maxsize=1_000)
def _interval(values: tuple[float, ...]) -> Interval | None:
    if len(values) < 2:
        return None
    found = scipy.stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=CONFIDENCE,
        n_resamples=RESAMPLES,
        batch=max(1, AT_ONCE // len(values)),
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))
