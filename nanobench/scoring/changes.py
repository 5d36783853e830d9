"""Did a task take more or less? Each figure of efficiency, paired over tasks by the medians of their repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.scoring.efficiency import FIGURES, REPEATS, spread
from nanobench.scoring.statistics.paired import PairedTest, paired_test
from nanobench.scoring.statistics.power import significant
from nanobench.scoring.statistics.quantities import PLACES, Difference, Mean
from nanobench.scoring.statistics.resampling import mean, paired_difference
from nanobench.scoring.tally import by_task
from nanobench.scoring.verdict import Word


@frozen(kw_only=True)
class Change:
    """A figure of the same tasks before and after: each task's median."""

    figure: str
    before: dict[str, float]
    after: dict[str, float]

    @property
    def places(self) -> int:
        """Decimal places that tell it: a run may cost less than a thousandth of a dollar."""
        return 6 if self.figure == "cost" else PLACES

    @property
    def means(self) -> tuple[Mean, Mean]:
        """Both sides' means over tasks."""
        return mean(list(self.before.values())), mean(list(self.after.values()))

    @property
    def difference(self) -> Difference:
        """After less before, on average over tasks."""
        return paired_difference(self.before, self.after)

    @property
    def test(self) -> PairedTest:
        """Are the two different?"""
        return paired_test(self.before, self.after)

    def word(self, corrected: float) -> str:
        """What may be said of it, with this corrected p."""
        if not significant(corrected, len(self.before)):
            return Word.NOISE
        return "more" if sum(self.after.values()) > sum(self.before.values()) else "less"


def changes(before: Sequence[CellResult], after: Sequence[CellResult]) -> tuple[Change, ...]:
    """Every figure of which a task has enough runs on both sides.

    Args:
        before, after: runs that count.
    """
    found = (_change(figure, medians(before, figure), medians(after, figure)) for figure in FIGURES)
    return tuple(change for change in found if change.before)


def medians(results: Iterable[CellResult], figure: str) -> dict[str, float]:
    """The median of each task of which at least ``REPEATS`` runs tell the figure."""
    spreads = {task: spread(map(FIGURES[figure], runs)) for task, runs in sorted(by_task(results).items())}
    return {task: float(s.median) for task, s in spreads.items() if s.median is not None and s.n >= REPEATS}


def _change(figure: str, before: dict[str, float], after: dict[str, float]) -> Change:
    both = sorted(before.keys() & after.keys())
    return Change(figure=figure, before={t: before[t] for t in both}, after={t: after[t] for t in both})
