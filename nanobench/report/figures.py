"""Figures over rows: cells counted by class, solved rates, failure labels, medians. Pure; nothing is rendered here.

A rate is over *runs that count* (class ``valid``). Cells that do not count stand beside it by class, and the classes,
with the cells that were planned and not found, add up to the planned cells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.report.rows import Arm, Facts, Row
from nanobench.scoring import shift
from nanobench.scoring.causes import Denominator, policy
from nanobench.scoring.statistics.power import FLOOR
from nanobench.scoring.statistics.quantities import Difference, Mean, Rate
from nanobench.scoring.statistics.resampling import mean, navigation_delta
from nanobench.scoring.tally import is_solved

MISSING = "missing"
CLASSES = (*(member.value for member in Denominator), MISSING)
"""Where a planned cell may be counted; ``missing`` was planned and has no result."""

rate = cache(Rate)
"""The rate of so many in so many; few pairs come very often."""

UNKNOWN = "unknown"


@frozen(kw_only=True)
class Tally:
    """Planned cells, counted. ``solved`` is over the valid ones; ``solved_all`` over every scored one, those too that
    a rate limit or a budget of the user stopped. ``mean`` is of the scores of valid cells, exact."""

    planned: int
    tasks: int
    classes: Mapping[str, int]
    solved: Rate
    solved_all: Rate
    mean: Fraction | None
    labels: Mapping[str, int]

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
    valid = [row.result for row in rows if row.result and row.counts]
    scored = [row.result for row in rows if row.result and row.result.score]
    counts = Counter(class_of(row) for row in rows)
    return Tally(
        planned=len(rows),
        tasks=len({row.cell.task for row in rows if row.counts}),
        classes={name: counts[name] for name in CLASSES},
        solved=_solved(valid),
        solved_all=_solved(scored),
        mean=sum((Fraction(r.score.value) for r in valid if r.score), Fraction(0)) / len(valid) if valid else None,
        labels=dict(sorted(Counter(label for r in valid if (label := label_of(r))).items(), key=_most_first)),
    )


def class_of(row: Row) -> str:
    """Where a planned cell is counted."""
    return MISSING if row.result is None else policy(row.result.cause).denominator.value


def too_few(tally: Tally) -> bool:
    """Are there too few tasks to claim anything?"""
    return tally.tasks < FLOOR


def label_of(result: CellResult) -> str | None:
    """Why a scored run did not resolve its task; None where it did, or was not scored."""
    label = shift.label_of(result)
    return None if result.score is None or label == shift.RESOLVED else label


def _solved(results: Sequence[CellResult]) -> Rate:
    return rate(sum(map(is_solved, results)), len(results))


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


# Groups

BANDS = ((20_000, "under 20k"), (50_000, "20k to 50k"), (80_001, "50k to 80k"))
"""Token density: the estimate over the required files, in the bands of the repository matrix."""


def band(tokens: int | None) -> str:
    """The band of a token estimate."""
    if tokens is None:
        return UNKNOWN
    return next((name for bound, name in BANDS if tokens < bound), "over 80k")


@frozen(kw_only=True)
class Group:
    """The rows with one value of a dimension: counted all, and by arm."""

    value: str
    tally: Tally
    arms: Mapping[Arm, Tally]


@frozen(kw_only=True)
class Dimension:
    """One way to group. ``of_arms``: by an axis, so that no arm stands in two groups; else by a fact of the task.
    ``overlaps``: a row may stand in several groups, so they add up to more than the whole."""

    name: str
    of_arms: bool
    overlaps: bool
    groups: tuple[Group, ...]


Keys = Callable[[Row], tuple[str, ...]]


def _axis(axis: str) -> Keys:
    return lambda row: (row.arm.axis(axis) or "none",)


def _fact(value: Callable[[Facts], object]) -> Keys:
    return lambda row: (UNKNOWN if (found := value(row.facts)) is None else str(found),)


OF_ARMS: dict[str, Keys] = {
    "provider": _axis("provider"),
    "model": _axis("model"),
    "Nanocoder": _axis("harness"),
    "mode": _axis("mode"),
}
OF_TASKS: dict[str, Keys] = {
    "tier": _fact(lambda facts: facts.tier),
    "domain": _fact(lambda facts: facts.domain),
    "language": lambda row: row.facts.languages or (UNKNOWN,),
    "reasoning category": _fact(lambda facts: facts.reasoning),
    "token density": _fact(lambda facts: band(facts.tokens)),
}
DIMENSIONS = OF_ARMS | OF_TASKS
"""What figures are given by, and which groups a row stands in."""

_BAND_ORDER = {name: number for number, name in enumerate((*(name for _, name in BANDS), "over 80k", UNKNOWN))}


def dimension(name: str, rows: Sequence[Row]) -> Dimension:
    """The rows by one dimension."""
    keys = DIMENSIONS[name]
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for value in keys(row):
            groups[value].append(row)
    order = sorted(groups, key=lambda value: (_BAND_ORDER.get(value, -1), value))
    return Dimension(
        name=name,
        of_arms=name in OF_ARMS,
        overlaps=any(len(keys(row)) > 1 for row in rows),
        groups=tuple(Group(value=value, tally=tally(groups[value]), arms=by_arm(groups[value])) for value in order),
    )


def by_arm(rows: Iterable[Row]) -> dict[Arm, Tally]:
    """The counts of every arm, in the order in which the arms come."""
    groups: dict[Arm, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.arm].append(row)
    return {arm: tally(members) for arm, members in groups.items()}


# The whole


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

    ``means`` are of one mean score a task, of the arms that have a run that counts.
    """

    kind: str
    arms: Mapping[Arm, Tally]
    facts: Mapping[str, Facts]
    whole: Tally
    means: Mapping[Arm, Mean]
    navigation: tuple[Navigation, ...]
    matrix: Mapping[tuple[str, Arm], Square]
    dimensions: tuple[Dimension, ...]

    def rows(self, arm: Arm) -> tuple[Row, ...]:
        """The rows of one arm, task by task."""
        return tuple(row for (_, of), square in self.matrix.items() if of == arm for row in square.rows)


def parts_of(rows: Sequence[Row]) -> tuple[Part, ...]:
    """The figures, kind by kind of task."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row.facts.kind or UNKNOWN].append(row)
    return tuple(_part(kind, kinds[kind]) for kind in sorted(kinds))


def _part(kind: str, rows: list[Row]) -> Part:
    arms = by_arm(rows)
    squares = _squares(rows)
    return Part(
        kind=kind,
        arms=arms,
        facts={row.cell.task: row.facts for row in sorted(rows, key=lambda row: row.cell.task)},
        whole=tally(rows),
        means={arm: mean(scores) for arm in arms if (scores := _mean_scores(squares, arm))},
        navigation=tuple(_navigations(squares, arms)),
        matrix=squares,
        dimensions=tuple(dimension(name, rows) for name in DIMENSIONS),
    )


def _squares(rows: Iterable[Row]) -> dict[tuple[str, Arm], Square]:
    found: dict[tuple[str, Arm], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.cell.repeat):
        found[row.cell.task, row.arm].append(row)
    return {key: Square(rows=tuple(members), tally=tally(members)) for key, members in found.items()}


Squares = Mapping[tuple[str, Arm], Square]


def _mean_scores(squares: Squares, arm: Arm) -> list[float]:
    means = (square.tally.mean for (_, of), square in squares.items() if of == arm)
    return [float(value) for value in means if value is not None]


def _navigations(squares: Squares, arms: Iterable[Arm]) -> Iterator[Navigation]:
    for hinted in (arm for arm in arms if arm.axis("mode") == "hinted"):
        other = hinted.with_mode("navigation")
        shares = _shares(squares, hinted), _shares(squares, other)
        both = shares[0].keys() & shares[1].keys()
        if both:
            delta = navigation_delta(*({task: share[task] for task in sorted(both)} for share in shares))
            yield Navigation(hinted=hinted, navigation=other, delta=delta)


def _shares(squares: Squares, arm: Arm) -> dict[str, float]:
    """By task, which share of its runs that count solved it."""
    solved = {task: square.tally.solved for (task, of), square in squares.items() if of == arm}
    return {task: rate.passed / rate.n for task, rate in solved.items() if rate.n}
