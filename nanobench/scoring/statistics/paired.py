"""Are two sides different on the same tasks? Exact tests: no distribution is assumed, and none approximated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import scipy
from attrs import frozen

from nanobench.scoring.statistics.resampling import AT_ONCE, RESAMPLES, SEED, differences

_EXACT = 15
"""Up to so many tasks that differ all ways to swap them are looked at; beyond, ``RESAMPLES`` of them are drawn."""

_TIE = 1e-9


@frozen(kw_only=True)
class PairedTest:
    """A paired comparison over ``n`` tasks: which test gave ``p``, before any correction."""

    test: Literal["exact McNemar", "paired permutation"]
    n: int
    p: float


def paired_test(before: Mapping[str, float], after: Mapping[str, float]) -> PairedTest:
    """Two-sided: may tasks' values of the two sides be swapped? McNemar's where each is 0 or 1.

    Args:
        before, after: one value a task (its mean over repeats), of the same tasks.
    """
    found = differences(before, after)
    if {*before.values(), *after.values()} <= {0.0, 1.0}:
        p = mcnemar(gained=found.count(1.0), lost=found.count(-1.0))
        return PairedTest(test="exact McNemar", n=len(found), p=p)
    return PairedTest(test="paired permutation", n=len(found), p=permutation(found))


def mcnemar(*, gained: int, lost: int) -> float:
    """The exact p of so many tasks gained and lost; those that stayed say nothing.

    Q. McNemar, Psychometrika 12 (1947) 153–157; exact by the binomial distribution.
    """
    return float(scipy.stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def permutation(differences: Sequence[float]) -> float:
    """The p of a sum of paired differences, each of which could as well have had the other sign.

    R. A. Fisher, The Design of Experiments (1935), section 21. Differences of zero say nothing.
    """
    telling = [d for d in differences if abs(d) > _TIE]
    if len(telling) < 2 or abs(sum(telling)) <= _TIE:
        return 1.0
    found = scipy.stats.permutation_test(
        (telling,),
        np.sum,
        permutation_type="samples",
        n_resamples=2**_EXACT if len(telling) <= _EXACT else RESAMPLES,
        batch=max(1, AT_ONCE // len(telling)),
        rng=np.random.default_rng(SEED),
    )
    return float(found.pvalue)
