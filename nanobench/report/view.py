"""What the page shows, row by row and in words: from figures to what templates need. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, get_args

from attrs import frozen

from nanobench.model.label import Label
from nanobench.report import svg
from nanobench.report.dimensions import OF_TASKS, Dimension
from nanobench.report.efficiency import MEASURES, taken
from nanobench.report.figures import Navigation, Part, Square
from nanobench.report.rows import Arm, Row
from nanobench.report.tables import best_first, differences, out_words, share, share_of, title_of, with_stopped
from nanobench.report.tally import Tally, class_of, failure_label, too_few
from nanobench.report.words import NONE, arm_names, few_words, rate_words, spread_words
from nanobench.scoring.efficiency import Spread
from nanobench.scoring.statistics.quantities import decimal

Href = Callable[[Row], str | None]
"""Where a row's details are; None where there are none."""


@frozen(kw_only=True)
class Mark:
    """One run at a glance: a sign, and the class that colours it."""

    sign: str
    style: str


MARKS = {
    "1.0": Mark(sign="●", style="s10"),
    "0.5": Mark(sign="◐", style="s5"),
    "0.1": Mark(sign="◔", style="s1"),
    "0.0": Mark(sign="○", style="s0"),
}
_LABELS = get_args(Label)
OUT = Mark(sign="×", style="sx")
NOT_FOUND = Mark(sign="?", style="sm")


def mark_of(row: Row) -> Mark:
    """How a run looks."""
    if row.result is None:
        return NOT_FOUND
    return MARKS[row.result.score.value] if row.result.score and row.counts else OUT


def words_of(row: Row) -> str:
    """What a run came to, for a screen reader and a pointer."""
    if row.result is None:
        came_to = "planned, not found"
    elif row.result.score is None:
        came_to = f"not scored: {row.result.cause}"
    else:
        came_to = ", ".join(filter(None, (row.result.score.label, failure_label(row.result))))
    out = "" if row.result is None or row.counts else f"; does not count: {class_of(row)}"
    return f"{row.cell.task}, repeat {row.cell.repeat + 1}: {came_to}{out}"


def part_view(part: Part, href: Href) -> dict[str, Any]:
    """Everything that the page shows of a part."""
    shared, names = arm_names(part.arms)
    labels = list(part.whole.labels)
    return {
        "kind": part.kind,
        "title": title_of(part),
        "shared": shared,
        "warnings": [*filter(None, [few_words(part.whole)]), *part.warnings],
        "names": list(names.values()),
        "labels": [{"name": label, "style": style_of(label)} for label in labels],
        "scores": [_score(arm, names[arm], tally, part) for arm, tally in best_first(part)],
        "differences": differences(part),
        "filters": _filters(part),
        "lines": [_line(task, part, href) for task in part.facts],
        "taxonomy": [_blame(names[arm], tally, labels) for arm, tally in part.arms.items()],
        "navigation": [_navigation(found, part, names) for found in part.navigation],
        "measures": [measure.title for measure in MEASURES],
        "efficiency": list(_efficiencies(part, names)),
        "dimensions": [_dimension(found, names, labels) for found in part.dimensions],
        "any_few": any(too_few(group.tally) for found in part.dimensions for group in found.groups),
    }


def _score(arm: Arm, name: str, tally: Tally, part: Part) -> dict[str, Any]:
    mean = part.means.get(arm)
    return {
        "name": name,
        "tally": tally,
        "few": too_few(tally),
        "share": share_of(tally.solved),
        "solved": rate_words(tally.solved),
        "plot": svg.interval(tally.solved),
        "mean": str(mean or NONE),
        "mean_value": decimal(mean.value) if mean else -1,
        "out": out_words(tally),
        "stopped": with_stopped(tally),
    }


def _filters(part: Part) -> dict[str, list[str]]:
    """The values of every fact of a task that tells tasks apart, and the failure labels."""
    values = {
        found.name: [group.value for group in found.groups] for found in part.dimensions if found.name in OF_TASKS
    }
    return {name: found for name, found in (values | {"label": list(part.whole.labels)}).items() if len(found) > 1}


def _line(task: str, part: Part, href: Href) -> dict[str, Any]:
    squares = [part.matrix[arm].get(task) for arm in part.arms]
    row = next(square.rows[0] for square in squares if square)
    labels = sorted({label for square in squares if square for label in square.tally.labels})
    keys = {key_of(name): "|".join(values(row)) for name, values in OF_TASKS.items()}
    stated = row.facts.spec.curation if row.facts.spec else None
    return {
        "task": task,
        "about": f"tier {stated.complexity_tier}, {stated.domain}" if stated else "",
        "attributes": keys | {"label": "|".join(labels)},
        "squares": [square and _square(square, href) for square in squares],
    }


def key_of(name: str) -> str:
    """A dimension's name as that of a data attribute."""
    return name.replace(" ", "-")


def _square(square: Square, href: Href) -> dict[str, Any]:
    runs = [{"href": href(row), "mark": mark_of(row), "words": words_of(row)} for row in square.rows]
    return {"solved": square.tally.solved, "value": share_of(square.tally.solved), "runs": runs}


def _blame(name: str, tally: Tally, labels: list[str]) -> dict[str, Any]:
    counts = [("solved", tally.solved.passed), *((style_of(label), tally.labels.get(label, 0)) for label in labels)]
    return {
        "name": name,
        "count": tally.valid,
        "rates": [share(tally, label) for label in labels],
        "plot": svg.shares(counts, tally.valid),
    }


def style_of(label: str) -> str:
    """The class that colours a label, the same in every report."""
    return f"l{_LABELS.index(label)}" if label in _LABELS else "lx"


def _navigation(found: Navigation, part: Part, names: Mapping[Arm, str]) -> dict[str, Any]:
    return {
        "name": names[found.hinted],
        "hinted": rate_words(part.arms[found.hinted].solved),
        "navigation": rate_words(part.arms[found.navigation].solved),
        "delta": str(found.delta),
        "plot": svg.difference(found.delta),
    }


def _efficiencies(part: Part, names: Mapping[Arm, str]) -> Iterator[dict[str, Any]]:
    took = {arm: taken(part.rows(arm)) for arm in names}
    most = {
        m.figure: max((t[m.figure].high or Decimal(0) for t in took.values()), default=Decimal(0)) for m in MEASURES
    }
    for arm, name in names.items():
        spreads = [(took[arm][m.figure], most[m.figure]) for m in MEASURES]
        yield {"name": name, "taken": [_taken(found, top) for found, top in spreads]}


def _taken(found: Spread, most: Decimal) -> dict[str, Any]:
    value = -1 if found.median is None else float(found.median)
    return {"value": value, "words": spread_words(found), "plot": svg.spread(found, most)}


def _dimension(found: Dimension, names: Mapping[Arm, str], labels: list[str]) -> dict[str, Any]:
    """Solved rates by arm where the dimension is a fact of tasks; failure labels of all arms together."""
    columns = {} if found.of_arms else names
    return {
        "name": found.name,
        "overlaps": found.overlaps,
        "columns": list(columns.values()),
        "solved": [
            {
                "name": group.value,
                "tasks": group.tally.tasks,
                "few": too_few(group.tally),
                "rates": [group.arms[arm].solved if arm in group.arms else None for arm in columns],
            }
            for group in found.groups
        ],
        "taxonomy": [_blame(group.value, group.tally, labels) for group in found.groups],
    }
