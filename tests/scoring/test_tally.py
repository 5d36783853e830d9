"""The classes of all cells add up to the plan, whatever happened."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanobench.model.result import Cause, CellResult
from nanobench.scoring.causes import policy
from nanobench.scoring.tally import tally

CAUSES = st.lists(st.tuples(st.sampled_from(Cause), st.booleans(), st.sampled_from("tu")), max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CAUSES)
def test_the_classes_add_up_to_the_planned_cells(repeats: Callable[..., Any], ends: list[Any]) -> None:
    results = [result(repeats, number, *end) for number, end in enumerate(ends)]
    found = tally(results, aside={"u"})
    assert found.planned == len(results)
    assert found.aside == sum(r.cell.task == "u" for r in results)
    assert all(found.solved[where] <= count for where, count in found.cells.items())
    assert found.rate.n <= found.solved_all.n <= found.planned - found.aside


def result(repeats: Callable[..., Any], number: int, cause: Cause, solved: bool, task: str) -> CellResult:
    made: CellResult = repeats(task, str(int(solved)))[0]
    cell = evolve(made.cell, repeat=number)
    return evolve(made, cell=cell, cause=cause, score=made.score if policy(cause).scored else None)


def test_every_cause_stands_in_one_class(repeats: Callable[..., Any]) -> None:
    results = [result(repeats, n, cause, True, "t") for n, cause in zip(itertools.count(), Cause, strict=False)]
    assert sum(tally(results).cells.values()) == len(Cause)
