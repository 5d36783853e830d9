"""Which tasks of a contrast may be compared at all? The others are set aside, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.model.task import Task
from nanobench.scoring.arms import Contrast
from nanobench.scoring.measured import Measured, measured
from nanobench.scoring.statistics.sampling import runs_needed
from nanobench.scoring.tally import by_task, counts


@frozen(kw_only=True)
class Comparable:
    """A contrast over the tasks that may be compared; ``aside`` gives each other task's reason."""

    contrast: Contrast
    before: Measured
    after: Measured
    aside: dict[str, str]


def comparable(contrast: Contrast, tasks: Mapping[str, Task]) -> Comparable:
    """Set aside what cannot be compared: tasks of one side alone, of different locks, of too few runs for their
    tier."""
    one, other = by_task(contrast.before.results), by_task(contrast.after.results)
    reasons = {task: _reason(tasks[task], one.get(task, []), other.get(task, [])) for task in sorted({*one, *other})}
    aside = {task: reason for task, reason in reasons.items() if reason is not None}
    before, after = (measured(side.results, aside=aside) for side in (contrast.before, contrast.after))
    return Comparable(contrast=contrast, before=before, after=after, aside=aside)


def _reason(task: Task, before: list[CellResult], after: list[CellResult]) -> str | None:
    return next(_reasons(task, before, after), None)


def _reasons(task: Task, before: list[CellResult], after: list[CellResult]) -> Iterator[str]:
    if not before or not after:
        yield f"run {'before' if before else 'after'} only"
    locks = sorted({result.lock_sha256[:12] for result in (*before, *after)})
    if len(locks) > 1:
        yield f"run from different locks ({', '.join(locks)})"
    tier = task.curation.complexity_tier
    fewest = min(sum(map(counts, side)) for side in (before, after))
    if fewest < runs_needed(tier):
        yield f"tier {tier} needs {runs_needed(tier)} runs that count on each side, and one has {fewest}"
