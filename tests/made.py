"""Results and specs that nobody ran or wrote, for what is computed from them: fixtures of every room's tests."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from nanobench.model.fields import Document
from nanobench.model.result import CellResult, Score
from nanobench.project.files import Project


@pytest.fixture
def spec(repository: Project, demo: str) -> Callable[..., Document]:
    """``spec("t", tier=3)``: a task's document, of the demo task's making."""

    def make(task: str, *, tier: int = 1, kind: str = "release-pair") -> Document:
        document = copy.deepcopy(repository.task(demo).document)
        document["curation"]["complexity_tier"] = tier
        return {**document, "id": task, "kind": kind}

    return make


@pytest.fixture
def repeats(cell_result: CellResult) -> Callable[..., list[CellResult]]:
    """``repeats("t", "110", mode="navigation")``: a result for each digit, 1 for solved; further words change the
    cell, those of ``of`` the result."""

    def make(task: str, solved: str, *, of: dict[str, Any] | None = None, **cell: Any) -> list[CellResult]:
        lost = Score(value="0.0", label="Zero Signal", resolved=False, targets_passed=0, targets=1)
        return [
            evolve(
                cell_result,
                cell=evolve(cell_result.cell, task=task, repeat=number, **cell),
                score=cell_result.score if digit == "1" else lost,
                **(of or {}),
            )
            for number, digit in enumerate(solved)
        ]

    return make
