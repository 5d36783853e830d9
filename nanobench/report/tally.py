"""Planned cells, counted: where each counts, how many were solved, why the others were not. Pure.

A rate is over *runs that count* (class ``valid``). Cells that do not count stand beside it by class, and the classes,
with the cells that were planned and not found, add up to the planned cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.report.rows import Row
from nanobench.scoring.causes import Denominator, policy
from nanobench.scoring.shift import RESOLVED, label_or_resolved
from nanobench.scoring.statistics.power import FLOOR
from nanobench.scoring.statistics.quantities import Rate
from nanobench.scoring.tally import counts
from nanobench.scoring.tally import tally as count

MISSING = "missing"
CLASSES = (*(member.value for member in Denominator), MISSING)
"""Where a planned cell may be counted; ``missing`` was planned and has no result."""


@frozen(kw_only=True)
class Tally:
    """Planned cells, counted. ``solved`` is over the valid ones; ``solved_all`` over every scored one, those too that
    a rate limit or a budget of the user stopped. ``mean`` is of the scores of valid cells."""

    planned: int
    tasks: int
    classes: Mapping[str, int]
    solved: Rate
    solved_all: Rate
    mean: float | None
    labels: Mapping[str, int]

    @property
    def stopped(self) -> bool:
        """Were scored runs stopped by a rate limit or a budget of the user, so that the two rates differ?"""
        return self.solved != self.solved_all

    @property
    def found(self) -> int:
        """How many of the planned cells have a result."""
        return self.planned - self.classes[MISSING]

    @property
    def valid(self) -> int:
        """How many cells count."""
        return self.classes[Denominator.VALID]


def tally(rows: Iterable[Row]) -> Tally:
    """The counts over some rows."""
    rows = tuple(rows)
    results = [row.result for row in rows if row.result]
    valid = list(filter(counts, results))
    rates = count(results)
    classes = Counter(class_of(row) for row in rows)
    return Tally(
        planned=len(rows),
        tasks=len({row.cell.task for row in rows if row.counts}),
        classes={name: classes[name] for name in CLASSES},
        solved=rates.rate,
        solved_all=rates.solved_all,
        mean=fmean(float(r.score.value) for r in valid if r.score) if valid else None,
        labels=dict(sorted(Counter(label for r in valid if (label := failure_label(r))).items(), key=_most_first)),
    )


def class_of(row: Row) -> str:
    """Where a planned cell is counted."""
    return MISSING if row.result is None else policy(row.result.cause).denominator.value


def too_few(tally: Tally) -> bool:
    """Are there too few tasks to claim anything?"""
    return tally.tasks < FLOOR


def failure_label(result: CellResult) -> str | None:
    """Why a scored run did not resolve its task; None where it did, or was not scored."""
    label = label_or_resolved(result)
    return None if result.score is None or label == RESOLVED else label


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
