"""The rows for other programs: CSV and JSON. ``COLUMNS`` says what each column is; docs/reports.md shows them.

Numbers are integers or decimal text: no float is written, so that the bytes are the same everywhere.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

from attrs import asdict, frozen

from nanobench.formats import json
from nanobench.formats.printable import printable
from nanobench.model.result import CellResult
from nanobench.report.differences import Left, Pair
from nanobench.report.figures import Part, parts_of
from nanobench.report.rows import Arm, Row
from nanobench.report.tally import Tally, class_of
from nanobench.scoring.efficiency import Efficiency, Spread, efficiency
from nanobench.scoring.groups import FACTS
from nanobench.scoring.statistics.quantities import decimal, p_value

Value = str | int | bool | None | tuple[str, ...]


@frozen
class Column:
    """One column: its name, what it holds, and its value in a row (None where there is none)."""

    name: str
    holds: str
    value: Callable[[Row], Value]


def _at(*path: str) -> Callable[[Row], Value]:
    """The value at a path below a row; None as soon as one step is not there."""

    def value(row: Row) -> Value:
        found: Any = row
        for name in path:
            found = None if found is None else getattr(found, name)
        return found  # type: ignore[no-any-return]

    return value


def _cell(name: str) -> Callable[[Row], Value]:
    return _at("cell", name)


def _stated(name: str) -> Callable[[Row], Value]:
    return _at("facts", "spec", "curation", name)


def _told(*path: str) -> Callable[[Row], Value]:
    return _at("result", *path)


COLUMNS = (
    Column("run", "the first 12 digits of the sha256 of the bundle's manifest.json", lambda row: row.run),
    Column("task", "the task's id", _cell("task")),
    Column("kind", "merged-pr, release-pair or fixture", _at("facts", "spec", "kind")),
    Column("tier", "complexity, 1 to 4", _stated("complexity_tier")),
    Column("domain", "the task's domain", _stated("domain")),
    Column("languages", "the task's languages", lambda row: _languages(row)),
    Column("reasoning_category", "what kind of reasoning it asks for", _stated("reasoning_category")),
    Column("token_estimate", "tokens of the required files at base", _at("facts", "tokens")),
    Column("harness", "the lock of Nanocoder", _cell("harness")),
    Column("nanocoder", "its version", _told("nanocoder")),
    Column("provider", "who was asked", _cell("provider")),
    Column("model", "which model", _cell("model")),
    Column("mode", "hinted or navigation", _cell("mode")),
    Column("profile", "how Nanocoder was set up; none is as ever", _cell("profile")),
    Column("repeat", "from 0", _cell("repeat")),
    Column("class", "valid, another class of the cause table, or missing (planned, no result)", class_of),
    Column("cause", "how the run ended", _told("cause")),
    Column("score", "0.0, 0.1, 0.5 or 1.0", _told("score", "value")),
    Column("resolved", "whether it counts as solved", _told("score", "resolved")),
    Column("targets_passed", "target tests that pass", _told("score", "targets_passed")),
    Column("targets", "target tests", _told("score", "targets")),
    Column("broken", "tests that passed before and no longer do", _told("score", "broken")),
    Column("required_touched", "required files that were changed", _told("score", "required_touched")),
    Column("label", "the failure label", _told("failure", "label")),
    Column("rule", "the rule that gave it", _told("failure", "rule")),
    Column("level", "how sure that rule is", _told("failure", "level")),
    Column("also_matched", "labels of later rules that match too", lambda row: _labels(row)),
    Column("signals", "what else was seen", _told("failure", "signals")),
    Column("halt", "what stopped the agent", _told("failure", "halt")),
    Column("steps", "answers of the model", _told("usage", "steps")),
    Column("tool_calls", "tool calls", _told("usage", "tool_calls")),
    Column("input_tokens", "tokens in, those from a cache too", _told("usage", "input_tokens")),
    Column("output_tokens", "tokens out", _told("usage", "output_tokens")),
    Column("cached_tokens", "tokens in that came from a cache", _told("usage", "cached_tokens")),
    Column("cost_usd", "US dollars at the prices of the run; none is unknown", _told("cost")),
    Column("wall_ms", "milliseconds of the attempt that stands", lambda row: _attempt(row, "wall_ms")),
    Column("cpu_ms", "milliseconds of processor time", lambda row: _attempt(row, "cpu_ms")),
    Column("attempts", "tries", lambda row: len(row.result.attempts) if row.result else None),
    Column("sampling_pinned", "whether every answer was sampled as pinned", _told("sampling_pinned")),
    Column("engine", "what ran the sandboxes", _told("engine")),
    Column("lock_sha256", "the task's lock", _told("lock_sha256")),
    Column("harness_sha256", "Nanocoder's lock", _told("harness_sha256")),
    Column("image_manifest", "the image", _told("image_manifest")),
    Column("patch_sha256", "the patch", _told("blobs", "patch")),
    Column("transcript_sha256", "the transcript", _told("blobs", "transcript")),
)


def _languages(row: Row) -> Value:
    return FACTS["language"](row.facts.spec.curation) if row.facts.spec else ()


def _labels(row: Row) -> Value:
    failure = row.result.failure if row.result else None
    return tuple(match.label for match in failure.also_matched) if failure else None


def _attempt(row: Row, name: str) -> Value:
    return getattr(row.result.attempts[-1], name) if row.result else None


def to_csv(rows: Sequence[Row]) -> str:
    """A line a planned cell, RFC 4180 with a header. Lists are joined by a space; no value begins a formula."""
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(column.name for column in COLUMNS)
    for row in rows:
        writer.writerow(_safe(column.value(row)) for column in COLUMNS)
    return out.getvalue()


_FORMULA = "=+-@\t\n|%＝＋－＠"


def _safe(value: Value) -> str:
    """The value as text, nothing in it unseen. A spreadsheet runs what begins like a formula, in some locales in wide
    signs too, unless an apostrophe comes before."""
    if isinstance(value, tuple):
        value = " ".join(value)
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else printable(str(value))
    return "'" + text if text[:1] in _FORMULA and text else text


def to_json(rows: Sequence[Row]) -> bytes:
    """The figures of every kind of task, and every row, as one document in ASCII."""
    return json.pretty(document(rows), ascii=True)


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """What :func:`to_json` writes."""
    return {
        "schema": 1,
        "columns": {column.name: column.holds for column in COLUMNS},
        "parts": [_part(part) for part in parts_of(rows)],
        "cells": [{c.name: list(v) if isinstance(v := c.value(row), tuple) else v for c in COLUMNS} for row in rows],
    }


def _part(part: Part) -> dict[str, Any]:
    arms = [asdict(arm) for arm in part.arms]
    number = {arm: at for at, arm in enumerate(part.arms)}
    return {
        "kind": part.kind,
        "arms": arms,
        "whole": _tally(part.whole),
        "by_arm": [_tally(tally) for tally in part.arms.values()],
        "dimensions": {
            found.name: [
                {
                    "value": group.value,
                    **_tally(group.tally),
                    "arms": {str(number[arm]): _tally(tally) for arm, tally in group.arms.items()},
                }
                for group in found.groups
            ]
            for found in part.dimensions
        },
        "matrix": [
            {"task": task, "arm": n, "first": square.first, **_tally(square.tally)}
            for arm, n in number.items()
            for task, square in part.matrix[arm].items()
        ],
        "mean_scores": [mean.document() if (mean := part.means.get(arm)) else None for arm in part.arms],
        "navigation_delta": [
            {"hinted": number[n.hinted], "navigation": number[n.navigation], **n.delta.document()}
            for n in part.navigation
        ],
        "differences": [_pair(found) for found in part.differences if isinstance(found, Pair)],
        "differences_left": [asdict(found) for found in part.differences if isinstance(found, Left)],
        "efficiency": [
            _efficiency(n, found) for arm, n in number.items() for found in efficiency(_results(part, arm))
        ],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    """Keys and values are those of ``nanobench compare --json``."""
    tested, sides = pair.tested, (pair.found.before, pair.found.after)
    said = tested.verdict if tested else None
    return {
        "run": pair.run,
        "axis": next(iter(pair.contrast.differing())),
        "arms": {name: dict(side.arm) for name, side in zip(("before", "after"), pair.sides, strict=True)},
        "solved": {name: side.rate.document() for name, side in zip(("before", "after"), sides, strict=True)},
        "difference": tested.difference.document() if tested else None,
        "p_corrected": p_value(tested.corrected) if tested else None,
        "verdict": {"word": said.word, "intervals": said.intervals, "pairs": said.pairs} if said else None,
    }


def _results(part: Part, arm: Arm) -> list[CellResult]:
    return [row.result for row in part.rows(arm) if row.result]


def _efficiency(arm: int, found: Efficiency) -> dict[str, Any]:
    """What a task took with one arm, as :mod:`nanobench.scoring.efficiency` has it."""
    return {
        "task": found.task,
        "arm": arm,
        "cells": found.cells,
        "missing": found.missing,
        "figures": {name: _spread(spread) for name, spread in found.figures.items()},
        "by_tool": {name: _spread(spread) for name, spread in found.by_tool.items()},
    }


def _spread(spread: Spread) -> dict[str, Any]:
    ends = {name: getattr(spread, name) for name in ("low", "median", "high")}
    return {"n": spread.n, "unknown": spread.unknown} | {k: None if v is None else f"{v:f}" for k, v in ends.items()}


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "planned": tally.planned,
        "found": tally.found,
        "tasks": tally.tasks,
        "classes": dict(tally.classes),
        "solved": tally.solved.document(),
        "solved_all_scored": tally.solved_all.document(),
        "mean_score": None if tally.mean is None else decimal(tally.mean, 4),
        "labels": dict(tally.labels),
    }
