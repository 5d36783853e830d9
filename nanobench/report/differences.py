"""Which arms of a run differ? The contrasts of ``nanobench compare RUN --by AXIS`` that the best arm is in. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.model.task import Task, TaskKind
from nanobench.report.rows import Row
from nanobench.scoring.arms import Contrast, Side, alike
from nanobench.scoring.comparable import Comparable, comparable
from nanobench.scoring.comparison import Tested, tested
from nanobench.scoring.tally import tally

MOST_PAIRS = 200
"""Pairs of arms that are compared on one axis of one run, at most: all of 20 models."""

_AXES = ("model", "harness", "profile")
"""In the order in which people ask. What modes differ in is the navigation delta."""


@frozen(kw_only=True)
class Pair:
    """Two arms of a run that differ on one axis alone; not ``tested`` where no task may be compared."""

    run: str
    found: Comparable
    tested: Tested | None

    @property
    def contrast(self) -> Contrast:
        """Which two."""
        return self.found.contrast

    @property
    def kind(self) -> TaskKind:
        """Of the tasks."""
        return self.contrast.kind

    @property
    def sides(self) -> tuple[Side, Side]:
        """Before and after."""
        return self.contrast.before, self.contrast.after


@frozen(kw_only=True)
class Left:
    """An axis on which a run has more than ``MOST_PAIRS`` pairs of arms: none is compared here."""

    run: str
    kind: TaskKind
    axis: str
    pairs: int


def differences(rows: Iterable[Row]) -> Iterator[Pair | Left]:
    """Run by run and axis by axis, every arm beside the one that solved most of those that differ on this axis alone.

    P-values are corrected for all pairs of the run and axis, those too that are not given.
    """
    runs: dict[str, dict[str, Task]] = defaultdict(dict)
    results: dict[str, list[CellResult]] = defaultdict(list)
    for row in rows:
        if row.facts.spec and row.result:
            runs[row.run][row.cell.task] = row.facts.spec
            results[row.run].append(row.result)
    for run, tasks in runs.items():
        for axis in _AXES:
            yield from _along(axis, run, results[run], tasks)


def _along(axis: str, run: str, results: Sequence[CellResult], tasks: Mapping[str, Task]) -> Iterator[Pair | Left]:
    groups = [(kind, sides) for kind, sides in alike(results, tasks, axis=axis) if len(sides) > 1]
    pairs = sum(comb(len(sides), 2) for _, sides in groups)
    if pairs > MOST_PAIRS:
        yield from (Left(run=run, kind=kind, axis=axis, pairs=pairs) for kind in dict.fromkeys(k for k, _ in groups))
        return
    contrasts = [
        Contrast(kind=kind, before=before, after=after)
        for kind, sides in groups
        for before, after in combinations(sides, 2)
    ]
    best = {_key(kind, max(sides, key=_share)) for kind, sides in groups}
    found = [comparable(contrast, tasks) for contrast in contrasts]
    tests = iter(tested(found))
    for each in found:
        test, sides = next(tests) if each.before.tasks else None, (each.contrast.before, each.contrast.after)
        if best & {_key(each.contrast.kind, side) for side in sides}:
            yield Pair(run=run, found=each, tested=test)


def _key(kind: TaskKind, side: Side) -> tuple[str, ...]:
    return (kind, *side.arm.values())


def _share(side: Side) -> float:
    """Solved of the runs that count; what was not measured comes last."""
    rate = tally(side.results).rate
    return rate.passed / rate.n if rate.n else -1
