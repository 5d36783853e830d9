"""How often must a task be run before its results may be compared? By its tier, as section 4 of the rules says."""

from __future__ import annotations

_RUNS = {1: 1, 2: 1, 3: 5, 4: 5}


def runs_needed(tier: int) -> int:
    """Once for the tiers 1 and 2, whose runs should not vary; five times for 3 and 4."""
    return _RUNS[tier]
