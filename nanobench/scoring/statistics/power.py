"""What can be claimed at all with so many tasks?"""

from __future__ import annotations

import scipy

ALPHA = 0.05
POWER = 0.8

FLOOR = 6
"""Tasks below which no significance is claimed: if all five of five turned the same way, p would be 0.0625."""


def significant(p: float, tasks: int) -> bool:
    """May a difference with this (corrected) p be claimed over so many tasks?"""
    return tasks >= FLOOR and p <= ALPHA


def detectable_difference(tasks: int) -> float | None:
    """The smallest true difference that so many tasks would show four times in five; None below the floor.

    At best, that is when no task turns the other way: the share δ of tasks that turn for which at least ``FLOOR`` of
    them do so with probability ``POWER``. The upper tail of a binomial is a beta distribution in δ (Abramowitz and
    Stegun 26.5.24), so δ is a quantile of that.
    """
    if tasks < FLOOR:
        return None
    return float(scipy.stats.beta.ppf(POWER, FLOOR, tasks - FLOOR + 1))
