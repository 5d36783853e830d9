"""The ways to group rows: by what an arm was, by what a task's lock says of it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from nanobench.model.task import Curation
from nanobench.report.rows import Arm, Row
from nanobench.report.tally import Tally, tally
from nanobench.scoring.groups import FACTS

UNKNOWN = "unknown"

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
    return lambda row: (getattr(row.arm, axis),)


def _stated(values: Callable[[Curation], tuple[str, ...]]) -> Keys:
    return lambda row: values(row.facts.spec.curation) if row.facts.spec else (UNKNOWN,)


OF_ARMS: dict[str, Keys] = {
    "provider": _axis("provider"),
    "model": _axis("model"),
    "Nanocoder": _axis("harness"),
    "mode": _axis("mode"),
}
OF_TASKS: dict[str, Keys] = {
    **{name: _stated(values) for name, values in FACTS.items()},
    "token density": lambda row: (band(row.facts.tokens),),
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
