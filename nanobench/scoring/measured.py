"""The figures of one set of runs: pass@1, the mean over N, what a task's repeats say. Each carries n and interval."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.scoring.statistics.passes import pass_at_k, pass_hat_k
from nanobench.scoring.statistics.quantities import Mean, Rate
from nanobench.scoring.statistics.resampling import mean
from nanobench.scoring.tally import Tally, by_task, counts, is_solved, tally


@frozen
class TaskRuns:
    """The runs of one task that count, in the order of their repeats: was it solved?"""

    solved: tuple[bool, ...]

    @property
    def passed(self) -> int:
        """How many runs solved it."""
        return sum(self.solved)

    @property
    def mean(self) -> float:
        """The share that did: the one value that a task has in a comparison."""
        return self.passed / len(self.solved)

    @property
    def mostly(self) -> bool:
        """Did more than half of its runs solve it?"""
        return 2 * self.passed > len(self.solved)

    def __str__(self) -> str:
        return f"{self.passed}/{len(self.solved)}"


@frozen(kw_only=True)
class Measured:
    """Runs that count, by task in the order of their ids; ``results`` are those runs, ``tally`` is of all cells."""

    results: tuple[CellResult, ...]
    tasks: dict[str, TaskRuns]
    tally: Tally

    @property
    def means(self) -> dict[str, float]:
        """The share of solved runs of each task."""
        return {task: runs.mean for task, runs in self.tasks.items()}

    @property
    def rate(self) -> Rate:
        """Solved of all runs."""
        return self.tally.rate

    @property
    def first(self) -> Rate:
        """pass@1: solved by the first run of each task."""
        return Rate(sum(runs.solved[0] for runs in self.tasks.values()), len(self.tasks))

    @property
    def mean(self) -> Mean:
        """The mean over tasks of each one's mean over its runs."""
        return mean(list(self.means.values()))

    @property
    def repeats(self) -> int:
        """As many runs as every task has: the largest ``k`` of pass@k and pass^k."""
        return min(len(runs.solved) for runs in self.tasks.values())

    def any_of(self, k: int) -> Mean:
        """pass@k: how likely at least one of ``k`` runs solves a task, on average over tasks."""
        return mean([pass_at_k(runs.passed, len(runs.solved), k) for runs in self.tasks.values()])

    def all_of(self, k: int) -> Mean:
        """pass^k: how likely all of ``k`` runs solve a task, on average over tasks."""
        return mean([pass_hat_k(runs.passed, len(runs.solved), k) for runs in self.tasks.values()])


def measured(results: Iterable[CellResult], *, aside: Collection[str] = ()) -> Measured:
    """The figures of these cells, without the tasks ``aside``."""
    cells = tuple(results)
    kept = tuple(cell for cell in cells if cell.cell.task not in aside and counts(cell))
    runs = by_task(sorted(kept, key=lambda result: (result.cell.task, result.cell.repeat)))
    tasks = {task: TaskRuns(tuple(map(is_solved, repeats))) for task, repeats in runs.items()}
    return Measured(results=kept, tasks=tasks, tally=tally(cells, aside=aside))
