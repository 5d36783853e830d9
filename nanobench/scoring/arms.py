"""What a cell was run with, and which two of those are held against each other.

Tasks of several kinds never stand in one table (section 2 of the rules), so every contrast is within one kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from attrs import frozen

from nanobench.errors import Misuse, Refused
from nanobench.model.result import Cell, CellResult
from nanobench.model.task import Task, TaskKind

AXES = ("harness", "model", "mode", "profile")
"""What may differ between two cells of one task beside their repeat. A model is one of a provider."""

MOST = 1000
"""Contrasts at once, at most."""

NO_PROFILE = "none"

Arm = Mapping[str, str]
"""A value for each axis."""


@frozen(kw_only=True)
class Side:
    """The results of one arm."""

    arm: Arm
    results: tuple[CellResult, ...]


@frozen(kw_only=True)
class Contrast:
    """Two arms over tasks of one kind; ``before`` is what ``after`` is measured by."""

    kind: TaskKind
    before: Side
    after: Side

    def differing(self) -> dict[str, tuple[str, str]]:
        """Every axis on which the two differ, with both values."""
        one, other = self.before.arm, self.after.arm
        return {axis: (one[axis], other[axis]) for axis in AXES if one[axis] != other[axis]}

    def words(self) -> tuple[str, str]:
        """What the two differ in, and what they share."""
        differing = "; ".join(f"{axis} {one} → {other}" for axis, (one, other) in self.differing().items())
        shared = [axis for axis in AXES if self.before.arm[axis] == self.after.arm[axis]]
        return differing or "the same arm twice", words(self.before.arm, shared)


@frozen(kw_only=True)
class Contrasts:
    """What is to be compared, and the arms that have no counterpart, in words."""

    found: tuple[Contrast, ...]
    alone: tuple[str, ...] = ()


def arm_of(result: CellResult) -> Arm:
    """What a cell was run with. A harness is named with its lock's digest: two builds may have one name."""
    cell = result.cell
    return {
        "harness": f"{cell.harness}@{result.harness_sha256[:8]}",
        "model": f"{cell.provider}/{cell.model}",
        "mode": cell.mode,
        "profile": cell.profile or NO_PROFILE,
    }


def between(before: Iterable[CellResult], after: Iterable[CellResult], tasks: Mapping[str, Task]) -> Contrasts:
    """Which arms of two runs belong together?

    An axis on which each run has one value may differ: it is what is compared. On the others values must be equal.

    Args:
        tasks: every task by its id.
    """
    found: list[Contrast] = []
    alone: list[str] = []
    ours, theirs = _by_kind(before, tasks), _by_kind(after, tasks)
    for kind in sorted({*ours, *theirs}):
        one, other = ours.get(kind, ()), theirs.get(kind, ())
        keys = [axis for axis in AXES if any(len({side.arm[axis] for side in sides}) > 1 for sides in (one, other))]
        counterparts = {_on(keys, side.arm): side for side in other}
        for side in one:
            counterpart = counterparts.pop(_on(keys, side.arm), None)
            if counterpart is None:
                alone.append(f"{kind}, in the first alone: {words(side.arm)}")
            else:
                found.append(Contrast(kind=kind, before=side, after=counterpart))
        alone += [f"{kind}, in the second alone: {words(side.arm)}" for side in counterparts.values()]
    return Contrasts(found=tuple(found), alone=tuple(alone))


def within(results: Iterable[CellResult], tasks: Mapping[str, Task], *, axis: str, base: str | None) -> Contrasts:
    """Every two arms of one run that differ on ``axis`` alone; with a ``base``, each other value against that one.

    Raises:
        Misuse: ``NB_NO_ARM`` when no arm has the value ``base``.
        Refused: ``NB_TOO_MANY`` for more than ``MOST`` contrasts.
    """
    found: list[Contrast] = []
    values: set[str] = set()
    for kind, group in alike(results, tasks, axis=axis):
        values.update(side.arm[axis] for side in group)
        found += [Contrast(kind=kind, before=a, after=b) for a, b in _pairs(group, axis, base)]
        if len(found) > MOST:
            raise Refused("NB_TOO_MANY", f"more than {MOST} comparisons", hint="name one value with --base")
    if base is not None and not any(_is(value, base) for value in values):
        raise Misuse("NB_NO_ARM", f"no {axis} {base!r}", where="--base", hint=f"there is {', '.join(sorted(values))}")
    return Contrasts(found=tuple(found))


def alike(
    results: Iterable[CellResult], tasks: Mapping[str, Task], *, axis: str
) -> Iterator[tuple[TaskKind, Sequence[Side]]]:
    """The arms of one run, kind by kind, in groups whose members differ on ``axis`` alone."""
    keys = [other for other in AXES if other != axis]
    for kind, sides in sorted(_by_kind(results, tasks).items()):
        groups: dict[tuple[str, ...], list[Side]] = defaultdict(list)
        for side in sides:
            groups[_on(keys, side.arm)].append(side)
        yield from ((kind, group) for group in groups.values())


def words(arm: Arm, axes: Collection[str] = AXES) -> str:
    """An arm's values with the names of their axes; profiles only where there are any."""
    return ", ".join(f"{axis} {arm[axis]}" for axis in axes if arm[axis] != NO_PROFILE)


def _by_kind(results: Iterable[CellResult], tasks: Mapping[str, Task]) -> dict[TaskKind, Sequence[Side]]:
    grouped: dict[TaskKind, dict[tuple[str, ...], dict[Cell, CellResult]]] = defaultdict(lambda: defaultdict(dict))
    for result in results:
        cells = grouped[tasks[result.cell.task].kind][_on(AXES, arm_of(result))]
        if result.cell in cells:
            raise Refused("NB_RECORD_TWICE", "two results of one cell", where=result.cell.id)
        cells[result.cell] = result
    return {
        kind: [
            Side(arm=dict(zip(AXES, arm, strict=True)), results=tuple(cells.values()))
            for arm, cells in sorted(arms.items())
        ]
        for kind, arms in grouped.items()
    }


def _on(axes: Iterable[str], arm: Arm) -> tuple[str, ...]:
    return tuple(arm[axis] for axis in axes)


def _pairs(group: Sequence[Side], axis: str, base: str | None) -> Iterator[tuple[Side, Side]]:
    if base is None:
        yield from combinations(group, 2)
        return
    for first in (side for side in group if _is(side.arm[axis], base)):
        yield from ((first, other) for other in group if other is not first)


def _is(value: str, asked: str) -> bool:
    """A harness may be named without its digest."""
    return asked in (value, value.partition("@")[0])
