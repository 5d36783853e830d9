"""Comparisons in words and as a document. No figure stands without its n and its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nanobench.scoring.arms import Contrast
from nanobench.scoring.changes import Change
from nanobench.scoring.comparison import Compared, Comparison
from nanobench.scoring.measured import Measured
from nanobench.scoring.statistics.power import POWER
from nanobench.scoring.statistics.quantities import decimal, p_value
from nanobench.scoring.tally import Tally

_WIDTH = 42
"""Room for the longest label and most dimensions."""


def text(found: Compared) -> str:
    """Every comparison for people: the verdict first, then what it rests on."""
    lines = [line for comparison in found.comparisons for line in _comparison(comparison)]
    for empty in found.empty:
        lines += [_heading(empty.contrast), "  nothing may be compared", *_aside(empty.aside)]
    lines += [f"no counterpart: {arm}" for arm in found.alone]
    return "\n".join([*lines, "In brackets: 95 % intervals, of shares over runs and of means over tasks."])


def document(found: Compared) -> dict[str, Any]:
    """The same as a document; every number that is not a count is decimal text."""
    return {
        "comparisons": [_document(comparison) for comparison in found.comparisons],
        "not_compared": [{**_of_contrast(e.contrast), "set_aside": e.aside} for e in found.empty],
        "no_counterpart": list(found.alone),
    }


def _comparison(comparison: Comparison) -> Iterator[str]:
    found, verdict = comparison.found, comparison.verdict
    yield _heading(found.contrast)
    yield f"  {verdict}"
    for name, before, after in _figures(found.before, found.after, comparison.k):
        yield _row(name, before, after)
    detectable = comparison.detectable
    least = "" if detectable is None else f"; smallest detectable {decimal(detectable)} (power {POWER})"
    yield _row("difference", f"{comparison.difference}{least}")
    for flip in comparison.flips:
        yield _row(f"turned: {flip.task}", str(flip.before), str(flip.after))
    for group in comparison.groups:
        yield _row(f"{group.dimension} {group.value}", str(group.before), str(group.after))
    for shift in comparison.shift:
        yield _row(f"label {shift.label}", str(shift.before), str(shift.after))
    for change, p in comparison.efficiency:
        one, other, more = (figure.text(change.places) for figure in (*change.means, change.difference))
        yield _row(change.figure, one, f"{other}: {more}, {change.word(p)}")
    yield from _aside(found.aside)


def _figures(before: Measured, after: Measured, k: int) -> Iterator[tuple[str, str, str]]:
    yield "solved", str(before.rate), str(after.rate)
    if any(side.tally.rate != side.tally.solved_all for side in (before, after)):
        yield "with those stopped", str(before.tally.solved_all), str(after.tally.solved_all)
    yield "pass@1", str(before.first), str(after.first)
    yield "mean of tasks", str(before.mean), str(after.mean)
    if k > 1:
        yield f"pass@{k}", str(before.any_of(k)), str(after.any_of(k))
        yield f"pass^{k}", str(before.all_of(k)), str(after.all_of(k))
    yield "cells", _cells(before.tally), _cells(after.tally)


def _heading(contrast: Contrast) -> str:
    differing, shared = contrast.words()
    return f"{contrast.kind}: {differing} ({shared})"


def _row(name: str, before: str, after: str = "") -> str:
    name = " ".join(name.split())  # a task's domain may be a stranger's, and end a line
    return f"    {name:<{_WIDTH}} {before}{f'  →  {after}' if after else ''}"


def _aside(aside: dict[str, str]) -> Iterator[str]:
    for task, reason in aside.items():
        yield f"  set aside: {task}: {reason}"


def _cells(tally: Tally) -> str:
    classes = [f"{count} {name}" for name, count in _classes(tally).items()]
    return f"{tally.planned} planned = {' + '.join(classes)}"


def _classes(tally: Tally) -> dict[str, int]:
    aside = {"set aside": tally.aside} if tally.aside else {}
    return {**{name.value: count for name, count in sorted(tally.cells.items())}, **aside}


def _document(comparison: Comparison) -> dict[str, Any]:
    found, verdict, test = comparison.found, comparison.verdict, comparison.test
    detectable = comparison.detectable
    return {
        **_of_contrast(found.contrast),
        "verdict": {
            "word": verdict.word,
            "regression": comparison.regressed,
            "intervals": verdict.intervals,
            "pairs": verdict.pairs,
        },
        "paired": {
            "test": test.test,
            "tasks": test.n,
            "p": p_value(test.p),
            "p_corrected": p_value(comparison.corrected),
            "difference": comparison.difference.document(),
            "detectable": None if detectable is None else decimal(detectable),
        },
        "k": comparison.k,
        "before": _side(found.before, comparison.k),
        "after": _side(found.after, comparison.k),
        "flips": [{"task": f.task, "before": str(f.before), "after": str(f.after)} for f in comparison.flips],
        "groups": [
            {"dimension": g.dimension, "value": g.value, "before": g.before.document(), "after": g.after.document()}
            for g in comparison.groups
        ],
        "labels": [
            {"label": s.label, "before": s.before.document(), "after": s.after.document()} for s in comparison.shift
        ],
        "efficiency": [_change(change, p) for change, p in comparison.efficiency],
        "set_aside": found.aside,
    }


def _of_contrast(contrast: Contrast) -> dict[str, Any]:
    return {"kind": contrast.kind, "arms": {"before": dict(contrast.before.arm), "after": dict(contrast.after.arm)}}


def _side(side: Measured, k: int) -> dict[str, Any]:
    return {
        "solved": side.rate.document(),
        "solved_all_scored": side.tally.solved_all.document(),
        "pass_at_1": side.first.document(),
        "mean": side.mean.document(),
        "pass_at_k": side.any_of(k).document(),
        "pass_hat_k": side.all_of(k).document(),
        "cells": {"planned": side.tally.planned, **_classes(side.tally)},
        "tasks": {
            task: {"passed": runs.passed, "n": len(runs.solved), "first": runs.solved[0]}
            for task, runs in side.tasks.items()
        },
    }


def _change(change: Change, p: float) -> dict[str, Any]:
    before, after = change.means
    return {
        "figure": change.figure,
        "before": before.document(change.places),
        "after": after.document(change.places),
        "difference": change.difference.document(change.places),
        "p_corrected": p_value(p),
        "verdict": change.word(p),
    }
