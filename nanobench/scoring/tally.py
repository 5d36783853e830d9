"""How many of the planned cells count, how many of them were solved, and where the others went."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from attrs import frozen

from nanobench.model.result import Cause, CellResult
from nanobench.scoring.causes import Denominator, policy
from nanobench.scoring.statistics.quantities import Rate

SCORED = tuple({policy(cause).denominator: None for cause in Cause if policy(cause).scored})
"""The classes whose cells have a score."""


@frozen(kw_only=True)
class Tally:
    """Cells by where they count, and the solved ones of each. ``aside``: cells of tasks that are not compared.

    Everything adds up to the number of planned cells.
    """

    cells: dict[Denominator, int]
    solved: dict[Denominator, int]
    aside: int = 0

    @property
    def planned(self) -> int:
        """How many cells the plan had."""
        return sum(self.cells.values()) + self.aside

    @property
    def rate(self) -> Rate:
        """Solved of valid cells: the figure that is compared."""
        return self._of(Denominator.VALID)

    @property
    def solved_all(self) -> Rate:
        """The same over every scored cell, those too that a rate limit or a budget of the user stopped."""
        return self._of(*SCORED)

    def _of(self, *classes: Denominator) -> Rate:
        return Rate(sum(self.solved.get(c, 0) for c in classes), sum(self.cells.get(c, 0) for c in classes))


def tally(results: Iterable[CellResult], *, aside: Collection[str] = ()) -> Tally:
    """Count results; those of the tasks ``aside`` apart."""
    cells: Counter[Denominator] = Counter()
    solved: Counter[Denominator] = Counter()
    apart = 0
    for result in results:
        if result.cell.task in aside:
            apart += 1
            continue
        where = policy(result.cause).denominator
        cells[where] += 1
        solved[where] += is_solved(result)
    return Tally(cells=dict(cells), solved=dict(solved), aside=apart)


def by_task(results: Iterable[CellResult]) -> dict[str, list[CellResult]]:
    """The results of each task, in the order in which they come."""
    found: dict[str, list[CellResult]] = defaultdict(list)
    for result in results:
        found[result.cell.task].append(result)
    return dict(found)


def is_solved(result: CellResult) -> bool:
    """Did the run resolve its task?"""
    return result.score is not None and result.score.resolved


def counts(result: CellResult) -> bool:
    """Is the cell part of the figure that is compared?"""
    return policy(result.cause).denominator is Denominator.VALID
