"""Many comparisons at once: the more there are, the more would look significant by chance."""

from __future__ import annotations

from collections.abc import Sequence

import scipy


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Each p corrected for all of them; those at most α have a share of false ones of at most α.

    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, JRSS B 57 (1995) 289–300.
    """
    if not p_values:
        return ()
    return tuple(float(p) for p in scipy.stats.false_discovery_control(p_values, method="bh"))
