"""Contrasts of made results."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nanobench.formats.converter import structure
from nanobench.model.result import CellResult
from nanobench.model.task import Task
from nanobench.scoring.arms import Contrast, Side, arm_of


@pytest.fixture
def task(spec: Callable[..., dict[str, object]]) -> Callable[..., Task]:
    """``task("t", tier=3)``: a task's spec."""
    return lambda name, **words: structure(spec(name, **words), Task, where=name)


@pytest.fixture
def contrast(repeats: Callable[..., list[CellResult]]) -> Callable[..., Contrast]:
    """``contrast({"t": "110"}, {"t": "000"})``: the runs of each task on both sides, 1 for solved."""

    def side(runs: dict[str, str], harness: str) -> Side:
        results = [result for task, digits in runs.items() for result in repeats(task, digits, harness=harness)]
        return Side(arm=arm_of(results[0]), results=tuple(results))

    return lambda before, after: Contrast(
        kind="release-pair", before=side(before, "nanocoder-1"), after=side(after, "nanocoder-2")
    )
