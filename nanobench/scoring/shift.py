"""How did the reasons of failure shift? Each label's share of the runs, before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.scoring.statistics.quantities import Rate
from nanobench.scoring.tally import is_solved

RESOLVED = "resolved"
UNLABELLED = "unlabelled"
"""Of a run that an older NanoBench scored, which knew no labels."""


@frozen(kw_only=True)
class Shift:
    """A label's share of the runs that count, before and after."""

    label: str
    before: Rate
    after: Rate


def label_or_resolved(result: CellResult) -> str:
    """The failure label of a run, or that it was resolved."""
    if is_solved(result):
        return RESOLVED
    return result.failure.label if result.failure else UNLABELLED


def label_shift(before: Sequence[CellResult], after: Sequence[CellResult]) -> tuple[Shift, ...]:
    """Every label that occurs, the most frequent first. On each side the shares add up to all runs."""
    old, new = Counter(map(label_or_resolved, before)), Counter(map(label_or_resolved, after))
    return tuple(
        Shift(label=label, before=Rate(old[label], len(before)), after=Rate(new[label], len(after)))
        for label in sorted(old | new, key=lambda label: (-old[label] - new[label], label))
    )
