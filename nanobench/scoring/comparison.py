"""Two sets of results over the same tasks, held against each other by section 7 of the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from nanobench.model.task import Task
from nanobench.scoring.arms import Contrast
from nanobench.scoring.changes import Change, changes
from nanobench.scoring.comparable import Comparable, comparable
from nanobench.scoring.groups import FACTS
from nanobench.scoring.measured import Measured, TaskRuns
from nanobench.scoring.shift import Shift, label_shift
from nanobench.scoring.statistics.correction import benjamini_hochberg
from nanobench.scoring.statistics.paired import PairedTest, paired_test
from nanobench.scoring.statistics.power import detectable_difference
from nanobench.scoring.statistics.quantities import Difference, Rate
from nanobench.scoring.statistics.resampling import paired_difference
from nanobench.scoring.verdict import Verdict, Word, verdict_of


@frozen(kw_only=True)
class Flip:
    """A task that turned: most of its runs solved it on one side, and not on the other."""

    task: str
    before: TaskRuns
    after: TaskRuns


@frozen(kw_only=True)
class Group:
    """Tasks that have something in common, such as ``tier`` 3, and what was solved of their runs."""

    dimension: str
    value: str
    before: Rate
    after: Rate


@frozen(kw_only=True)
class Tested:
    """Whether the two of one contrast differ. ``corrected`` is the p of ``test`` after correction for all
    contrasts."""

    found: Comparable
    test: PairedTest
    corrected: float

    @property
    def difference(self) -> Difference:
        """How much larger is the share of solved runs after, on average over tasks?"""
        return paired_difference(self.found.before.means, self.found.after.means)

    @property
    def verdict(self) -> Verdict:
        """May the two be called different?"""
        before, after = self.found.before, self.found.after
        rose = sum(after.means.values()) - sum(before.means.values())
        return verdict_of(before.rate, after.rate, rose=rose, test=self.test, corrected=self.corrected)


@frozen(kw_only=True)
class Comparison(Tested):
    """All that may be said of one contrast. ``efficiency`` gives each figure's change and its p, corrected for all
    figures of all contrasts."""

    groups: tuple[Group, ...]
    efficiency: tuple[tuple[Change, float], ...]

    @property
    def k(self) -> int:
        """As many runs as every task has on both sides: of pass@k and pass^k."""
        return min(self.found.before.repeats, self.found.after.repeats)

    @property
    def detectable(self) -> float | None:
        """The smallest difference that so many tasks would show."""
        return detectable_difference(self.test.n)

    @property
    def regressed(self) -> bool:
        """Is fewer solved after than before?"""
        return self.verdict.word is Word.LESS

    @property
    def flips(self) -> tuple[Flip, ...]:
        """The tasks that turned, by id."""
        before, after = self.found.before.tasks, self.found.after.tasks
        return tuple(
            Flip(task=task, before=runs, after=after[task])
            for task, runs in before.items()
            if runs.mostly != after[task].mostly
        )

    @property
    def shift(self) -> tuple[Shift, ...]:
        """Each label's share of the runs before and after."""
        return label_shift(self.found.before.results, self.found.after.results)


@frozen(kw_only=True)
class Compared:
    """Every contrast that has a task to compare, those that have none, and the arms without a counterpart, in
    words."""

    comparisons: tuple[Comparison, ...]
    empty: tuple[Comparable, ...]
    alone: tuple[str, ...]


def compare(contrasts: Iterable[Contrast], tasks: Mapping[str, Task], *, alone: tuple[str, ...] = ()) -> Compared:
    """Compare both sides of every contrast.

    The p-values of all contrasts are one family, and so are those of their figures of efficiency.

    Args:
        tasks: every task by its id.
        alone: the arms that have no counterpart.
    """
    found = [comparable(contrast, tasks) for contrast in contrasts]
    full = tested(found)
    spent = [changes(each.found.before.results, each.found.after.results) for each in full]
    spent_p = iter(benjamini_hochberg([change.test.p for each in spent for change in each]))
    return Compared(
        comparisons=tuple(
            Comparison(
                found=each.found,
                test=each.test,
                corrected=each.corrected,
                groups=tuple(_groups(each.found.before, each.found.after, tasks)),
                efficiency=tuple((change, next(spent_p)) for change in spent_),
            )
            for each, spent_ in zip(full, spent, strict=True)
        ),
        empty=tuple(each for each in found if not each.before.tasks),
        alone=alone,
    )


def tested(found: Iterable[Comparable]) -> tuple[Tested, ...]:
    """Those that have a task to compare, each tested; their p-values are one family."""
    full = [each for each in found if each.before.tasks]
    tests = [paired_test(each.before.means, each.after.means) for each in full]
    corrected = benjamini_hochberg([test.p for test in tests])
    return tuple(
        Tested(found=each, test=test, corrected=p) for each, test, p in zip(full, tests, corrected, strict=True)
    )


def _groups(before: Measured, after: Measured, tasks: Mapping[str, Task]) -> Iterator[Group]:
    """Both sides' rates by every fact that tasks are grouped by."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task in before.tasks:
        for dimension, values in FACTS.items():
            for value in values(tasks[task].curation):
                members[dimension, value].append(task)
    for (dimension, value), group in sorted(members.items()):
        yield Group(dimension=dimension, value=value, before=_rate(before, group), after=_rate(after, group))


def _rate(side: Measured, tasks: Iterable[str]) -> Rate:
    runs = [side.tasks[task] for task in tasks]
    return Rate(sum(r.passed for r in runs), sum(len(r.solved) for r in runs))
