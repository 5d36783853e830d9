"""The figures of a report, kind by kind of task. Pure; nothing is rendered here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from nanobench.report.differences import Left, Pair, differences
from nanobench.report.dimensions import DIMENSIONS, UNKNOWN, Dimension, by_arm, dimension
from nanobench.report.rows import Arm, Facts, Row
from nanobench.report.tally import Tally, tally
from nanobench.scoring.statistics.quantities import Difference, Mean
from nanobench.scoring.statistics.resampling import mean, navigation_delta
from nanobench.scoring.tally import counts, is_solved


@frozen(kw_only=True)
class Square:
    """One task with one arm: its rows by repeat, and their counts. ``first`` is whether the first run solved it
    (pass@1); None when that run does not count."""

    rows: tuple[Row, ...]
    tally: Tally

    @property
    def first(self) -> bool | None:
        """pass@1."""
        result = self.rows[0].result
        return is_solved(result) if result and self.rows[0].counts else None


Squares = Mapping[str, Square]
"""Those of one arm, by task."""


@frozen(kw_only=True)
class Navigation:
    """What finding the files costs: an arm in hinted mode beside the same in navigation mode, over the tasks that
    count in both. ``delta`` is hinted less navigation, of the share of runs that solved a task."""

    hinted: Arm
    navigation: Arm
    delta: Difference


@frozen(kw_only=True)
class Part:
    """The figures over all tasks of one kind; tasks of two kinds never stand in one table.

    ``means`` are of one mean score a task, of the arms that have a run that counts. ``matrix`` is by arm, and its
    tasks stand in the order of their ids.
    """

    kind: str
    arms: Mapping[Arm, Tally]
    facts: Mapping[str, Facts]
    whole: Tally
    warnings: tuple[str, ...]
    means: Mapping[Arm, Mean]
    navigation: tuple[Navigation, ...]
    differences: tuple[Pair | Left, ...]
    matrix: Mapping[Arm, Squares]
    dimensions: tuple[Dimension, ...]

    def rows(self, arm: Arm) -> tuple[Row, ...]:
        """The rows of one arm, task by task."""
        return tuple(row for square in self.matrix[arm].values() for row in square.rows)


def parts_of(rows: Sequence[Row]) -> tuple[Part, ...]:
    """The figures, kind by kind of task."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row.facts.spec.kind if row.facts.spec else UNKNOWN].append(row)
    found = tuple(differences(rows))
    return tuple(_part(kind, kinds[kind], tuple(d for d in found if d.kind == kind)) for kind in sorted(kinds))


def _part(kind: str, rows: list[Row], found: tuple[Pair | Left, ...]) -> Part:
    arms, matrix = by_arm(rows), _matrix(rows)
    return Part(
        kind=kind,
        arms=arms,
        facts={row.cell.task: row.facts for row in sorted(rows, key=lambda row: row.cell.task)},
        whole=tally(rows),
        warnings=tuple(_warnings(rows)),
        means={arm: mean(scores) for arm in arms if (scores := _mean_scores(matrix[arm]))},
        navigation=tuple(_navigations(matrix, arms)),
        differences=found,
        matrix=matrix,
        dimensions=tuple(dimension(name, rows) for name in DIMENSIONS),
    )


def _warnings(rows: Sequence[Row]) -> Iterator[str]:
    """What should be known before any figure is believed."""
    results = [row.result for row in rows if row.result]
    unused = sum(result.no_model_usage is not None for result in results)
    if unused:
        yield f"{unused} of {len(results)} cells show no usage of a real model: their scores are nobody's"
    free = sum(not result.sampling_pinned for result in results if counts(result))
    if free:
        yield f"{free} of {len(results)} cells were not sampled as pinned: they are not deterministic"
    mixed = sum(len({who.model for who in result.served or () if who.model}) > 1 for result in results)
    if mixed:
        yield f"{mixed} of {len(results)} cells were answered by more than one model, by the names that answers gave"


def _matrix(rows: Iterable[Row]) -> dict[Arm, Squares]:
    found: dict[Arm, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row.cell.task, row.cell.repeat)):
        found[row.arm][row.cell.task].append(row)
    return {
        arm: {task: Square(rows=tuple(r), tally=tally(r)) for task, r in tasks.items()}
        for arm, tasks in found.items()
    }


def _mean_scores(squares: Squares) -> list[float]:
    means = (square.tally.mean for square in squares.values())
    return [value for value in means if value is not None]


def _navigations(matrix: Mapping[Arm, Squares], arms: Iterable[Arm]) -> Iterator[Navigation]:
    for hinted in (arm for arm in arms if arm.mode == "hinted"):
        other = evolve(hinted, mode="navigation")
        shares = _shares(matrix[hinted]), _shares(matrix.get(other, {}))
        both = shares[0].keys() & shares[1].keys()
        if both:
            delta = navigation_delta(*({task: share[task] for task in sorted(both)} for share in shares))
            yield Navigation(hinted=hinted, navigation=other, delta=delta)


def _shares(squares: Squares) -> dict[str, float]:
    """By task, which share of its runs that count solved it."""
    solved = {task: square.tally.solved for task, square in squares.items()}
    return {task: rate.passed / rate.n for task, rate in solved.items() if rate.n}
